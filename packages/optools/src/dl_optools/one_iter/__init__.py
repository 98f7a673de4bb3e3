"""Comparison of one training step on a trusted device with one on the device under test."""
