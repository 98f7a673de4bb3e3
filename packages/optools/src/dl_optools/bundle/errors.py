"""Errors of bundles."""

from __future__ import annotations


class BundleError(ValueError):
    """A bundle is damaged, hostile, or not for this machine; nothing in it was executed."""


class NotStorableError(ValueError):
    """A call holds something that cannot be stored in a bundle; the message names it."""
