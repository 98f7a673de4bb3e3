"""Errors of the session."""

from __future__ import annotations


class SessionError(RuntimeError):
    """A step failed, or a program that it needs is missing. The message says what to do."""


class UnavailableError(RuntimeError):
    """A step cannot be done on this machine, through no fault of the sources."""
