"""The one module that knows the environment variables of the tools.

Nothing is ever written to the environment: what one tool reads does not change another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from dl_optools.selection import EVERYTHING

T = TypeVar("T")


class OptionError(ValueError):
    """A variable's value does not fit."""


def operator_lists(environ: Mapping[str, str], tool: str) -> tuple[str, str]:
    """``OP_<tool>_LIST`` (all operators by default) and ``OP_<tool>_DISABLE_LIST`` (none)."""
    include = environ.get(f"OP_{tool}_LIST", "").strip()
    return include or EVERYTHING, environ.get(f"OP_{tool}_DISABLE_LIST", "")


def read(
    environ: Mapping[str, str], name: str, parse: Callable[[str], T], default: T, allowed: str
) -> T:
    """A variable's value; the default where it is not set or empty.

    :param allowed: what the error says may stand there.
    :raises OptionError: ``parse`` raises ValueError for its text.
    """
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        return parse(text)
    except ValueError:
        raise OptionError(f"{name}={text!r} does not fit. Allowed: {allowed}.") from None


def flag(text: str) -> bool:
    """``1``, ``true``, ``on``, ``yes`` or their opposites.

    :raises ValueError: anything else.
    """
    lowered = text.lower()
    if lowered in ("1", "true", "on", "yes"):
        return True
    if lowered in ("0", "false", "off", "no"):
        return False
    raise ValueError(text)
