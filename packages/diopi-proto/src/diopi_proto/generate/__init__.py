"""Generator of all files derived from ``schema/*.yaml``: ``python -m diopi_proto.generate``."""
