"""OpenCL devices as a vendor of dl: operators in a library that needs only the drivers."""

from ._version import __version__

__all__ = ["__version__"]
