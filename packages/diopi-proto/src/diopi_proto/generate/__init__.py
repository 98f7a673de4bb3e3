"""Writes all that follows from ``schema/*.yaml``: ``python -m diopi_proto.generate``."""
