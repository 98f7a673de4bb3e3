"""Why a call is no case."""

from __future__ import annotations


class NotServedError(Exception):
    """No one operator of the contract computes what the call does; the text says why."""
