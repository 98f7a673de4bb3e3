"""The CPU reference vendor of dl: operators in a library that needs neither torch nor Python."""

from ._version import __version__

__all__ = ["__version__"]
