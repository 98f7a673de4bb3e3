"""Conformance suite of the diopi contract."""

from ._version import __version__

__all__ = ["__version__"]
