"""__chip__ as a vendor of dl: a library without torch, and the plugin that describes it."""

__version__ = "0.1.0"
