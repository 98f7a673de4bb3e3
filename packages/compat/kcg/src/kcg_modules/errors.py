"""Errors about the caller's arguments."""

from __future__ import annotations

from dl_autotune import TuningError


class KcgError(TuningError, ValueError, RuntimeError):
    """A configuration, a kernel's name, a file or a device cannot be used."""
