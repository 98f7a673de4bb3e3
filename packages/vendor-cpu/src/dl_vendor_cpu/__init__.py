"""The CPU reference vendor of dl. Its operators are in a shared library that needs neither torch nor Python."""

from ._version import __version__

__all__ = ["__version__"]
