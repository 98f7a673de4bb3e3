"""The version of the wheel and of the library in it."""

__version__ = "0.1.0"
