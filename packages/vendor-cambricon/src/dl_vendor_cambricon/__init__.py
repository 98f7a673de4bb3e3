"""Cambricon MLUs as a vendor of dl, over the libraries of the Neuware SDK."""

from ._version import __version__

__all__ = ["__version__"]
