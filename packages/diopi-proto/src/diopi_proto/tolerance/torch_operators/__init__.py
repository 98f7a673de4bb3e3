"""Verification of results of torch operators: schema, tolerance class, rounding bound, comparison.

The only part of this package that imports torch. Works with tensors of any device.
"""
