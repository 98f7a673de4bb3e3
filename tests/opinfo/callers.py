"""Mapping from overloads of dl-core to the OpInfo operators that call them: the file that record.py
writes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FORWARD, BACKWARD = "forward", "backward"
_FIRST = (
    "# Overload | mode | OpInfo operators that call it there. Written by python -m opinfo.record."
)


class Callers(NamedTuple):
    """OpInfo operators that exercise an overload, in forward or in their gradients."""

    mode: str
    operators: tuple[str, ...]


@functools.cache
def read(path: Path) -> Mapping[str, Callers]:
    """Return the callers of each overload."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line and not line.startswith("#"):
            overload, mode, operators = line.split(" | ")
            found[overload] = Callers(mode, tuple(operators.split(", ")))
    return found


def write(path: Path, callers: Mapping[str, Callers]) -> None:
    """Write the callers of each overload, one overload a line."""
    lines = [f"{name} | {c.mode} | {', '.join(c.operators)}" for name, c in sorted(callers.items())]
    path.write_text("\n".join([_FIRST, *lines]) + "\n", encoding="utf-8")
