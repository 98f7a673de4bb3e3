"""Numbers on command lines: each has a sense, or the command says what would. Imports no torch."""

from __future__ import annotations

import argparse
import math

LONGEST = 1e9
"""Seconds: three decades."""


def seconds(text: str) -> float:
    """How long something may take.

    :raises argparse.ArgumentTypeError: no number, not above 0, or without an end.
    """
    value = _number(text)
    if not 0 < value < LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def tolerance(text: str) -> float:
    """A relative distance.

    :raises argparse.ArgumentTypeError: no number, negative, nan or inf.
    """
    value = _number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number >= 0")
    return value


def count(text: str) -> int:
    """How many, at least one.

    :raises argparse.ArgumentTypeError: no whole number from 1 on.
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
