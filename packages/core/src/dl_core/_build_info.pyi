"""Written by setup.py when a wheel is built; a source checkout has none."""

TORCH_VERSION: str
