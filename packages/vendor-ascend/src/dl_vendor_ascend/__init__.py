"""Ascend NPUs as a vendor of dl, over the libraries of CANN."""

from ._version import __version__

__all__ = ["__version__"]
