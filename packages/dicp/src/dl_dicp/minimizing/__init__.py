"""Reduction of a failing graph to the calls that make it fail."""
