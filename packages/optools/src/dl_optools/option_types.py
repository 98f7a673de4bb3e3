"""Argument types for numbers on command lines, with errors that state the valid range. No torch."""

from __future__ import annotations

import argparse
import math

LONGEST = 1e9
"""Largest number of seconds: three decades."""


def seconds(text: str) -> float:
    """Parse a duration in seconds.

    :raises argparse.ArgumentTypeError: not a number, not above 0, or infinite.
    """
    value = _number(text)
    if not 0 < value < LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def tolerance(text: str) -> float:
    """Parse a relative tolerance.

    :raises argparse.ArgumentTypeError: not a number, negative, nan or inf.
    """
    value = _number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number >= 0")
    return value


def count(text: str) -> int:
    """Parse a count of at least one.

    :raises argparse.ArgumentTypeError: not an integer of at least 1.
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
