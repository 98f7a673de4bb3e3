"""Version of the wheel and of its library."""

__version__ = "0.1.0"
