"""The version of the kernels."""

__version__ = "0.1.0"
