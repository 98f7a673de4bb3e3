"""Version of the wheel and its library."""

__version__ = "0.1.0"
