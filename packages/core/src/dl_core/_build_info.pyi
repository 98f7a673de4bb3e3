"""Written by setup.py when a wheel is built; missing in a source checkout."""

TORCH_VERSION: str
