"""Errors about the caller's arguments. Like msKPP's, they are ValueError and RuntimeError."""

from __future__ import annotations


class MskppError(ValueError, RuntimeError):
    """A kernel, a build script, a configuration or an argument cannot be used."""
