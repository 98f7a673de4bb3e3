"""Error for calls that cannot become a conformance case."""

from __future__ import annotations


class NotServedError(Exception):
    """No single contract operator computes the call; the message says why."""
