"""A vendor for tests: its device pointers fault on the host, its streams run on threads."""

from ._version import __version__

__all__ = ["__version__"]
