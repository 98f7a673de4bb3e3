"""Parsing of the tools' environment variables, which :mod:`.environment` reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from dl_optools.selection import EVERYTHING

T = TypeVar("T")
CALLS, OPERATORS, ROWS = (
    "a number of calls, at least 1",
    "a number of operators, at least 0",
    "a number of rows, at least 1",
)
SIZES = "a number of bytes such as 500000, 500M or 2G"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class OptionError(ValueError):
    """A variable has an invalid value."""


def operator_lists(environ: Mapping[str, str], tool: str) -> tuple[str, str]:
    """Return ``OP_<tool>_LIST`` (default: all) and ``OP_<tool>_DISABLE_LIST`` (default: none)."""
    include = environ.get(f"OP_{tool}_LIST", "").strip()
    return include or EVERYTHING, environ.get(f"OP_{tool}_DISABLE_LIST", "")


def read(
    environ: Mapping[str, str], name: str, parse: Callable[[str], T], default: T, allowed: str
) -> T:
    """Return a variable's parsed value; the default if it is unset or empty.

    :param allowed: description of valid values, for the error.
    :raises OptionError: ``parse`` raises ValueError for its text.
    """
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        return parse(text)
    except ValueError:
        raise OptionError(f"{name}={text!r} is invalid. Allowed: {allowed}.") from None


def flag(text: str) -> bool:
    """Parse ``1``, ``true``, ``on``, ``yes`` or their opposites.

    :raises ValueError: anything else.
    """
    lowered = text.lower()
    if lowered in ("1", "true", "on", "yes"):
        return True
    if lowered in ("0", "false", "off", "no"):
        return False
    raise ValueError(text)


def at_least(least: int) -> Callable[[str], int]:
    """Return a parser of integers of at least ``least``, which raises ValueError otherwise."""

    def parse(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError(text)
        return value

    return parse


def nbytes(text: str) -> int:
    """Parse a size: :data:`SIZES`.

    :raises ValueError: anything else.
    """
    unit = text[-1:].upper() if text[-1:].isalpha() else ""
    if unit not in _UNITS:
        raise ValueError(text)
    value = float(text.removesuffix(text[-1]) if unit else text) * _UNITS[unit]
    if not 0 < value < 1 << 62:
        raise ValueError(text)
    return int(value)


def nbytes_text(count: int) -> str:
    """Format a size for people: ``1.5 GiB``."""
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"
