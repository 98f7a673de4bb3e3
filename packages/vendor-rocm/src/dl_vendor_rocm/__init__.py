"""AMD GPUs as a vendor of dl: operators in a library that needs only the driver."""

from ._version import __version__

__all__ = ["__version__"]
