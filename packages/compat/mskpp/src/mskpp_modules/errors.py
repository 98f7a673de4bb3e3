"""Errors about what a caller passed; msKPP raises ValueError and RuntimeError too."""

from __future__ import annotations


class MskppError(ValueError, RuntimeError):
    """A kernel, a build script, a configuration or an argument cannot be used."""
