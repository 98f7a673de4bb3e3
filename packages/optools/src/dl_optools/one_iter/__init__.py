"""Comparison of a training step on a trusted device with the step on the device under test."""
