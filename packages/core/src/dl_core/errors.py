"""Every error that the torch-free part raises. All derive from :class:`DlError`."""

from __future__ import annotations


class DlError(Exception):
    """Base of the package's errors."""


class ActivationError(DlError, RuntimeError):
    """The ``dl`` device was asked for by hand and cannot be registered. The message says why."""


class OutputError(DlError):
    """A file cannot be written: it is there already, or its folder takes none."""


class PluginError(DlError):
    """A plugin gave something that its hook does not allow."""


class UntrustedError(PluginError):
    """Something of a plugin lies where others could have put it. The message names the place."""
