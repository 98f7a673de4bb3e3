"""A faster addition for vendor `cpu`."""
