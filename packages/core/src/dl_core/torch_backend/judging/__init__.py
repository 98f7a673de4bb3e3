"""Verification of results: schema of the operator, its rounding bound, the comparison.

Works with tensors of any device; the tools of dl-optools use it too.
"""
