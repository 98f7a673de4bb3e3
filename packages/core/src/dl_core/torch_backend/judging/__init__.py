"""Whether a result is right: what its operator's schema says, its rounding bound, the comparison.

Works with the tensors of any device; the tools of dl-optools judge by it too.
"""
