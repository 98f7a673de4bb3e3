"""Errors of bundles."""

from __future__ import annotations


class BundleError(ValueError):
    """A bundle is damaged, hostile, or not for this machine; nothing of it was executed."""


class NotStorableError(ValueError):
    """A call holds something that no bundle can keep; the text says what."""
