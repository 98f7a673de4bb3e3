"""Frozen weights: what follows from them alone is computed once, not in each call."""
