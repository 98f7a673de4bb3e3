"""Constant folding for frozen weights: values that depend only on them are computed once."""
