"""Summary of the operators that no tool observed, over all processes. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

UNSEEN = "unseen: "
"""Prefix of a note that counts operators on the device which a tool did not observe."""


@dataclass(frozen=True)
class Unseen:
    """Calls that one group of tools did not observe.

    :ivar where: ``forked process`` or ``thread``.
    :ivar places: number of such processes or threads.
    """

    where: str
    tools: tuple[str, ...]
    places: int
    calls: int

    def text(self) -> str:
        plural = "" if self.places == 1 else "es" if self.where.endswith("s") else "s"
        return (
            f"{self.places} {self.where}{plural} made {self.calls} calls on the device; "
            f"{', '.join(self.tools)} did not see them"
        )


def unseen_of(notes: Iterable[str]) -> list[Unseen]:
    """Return all notes of unobserved calls, summed by group."""
    last: dict[str, tuple[str, tuple[str, ...], int]] = {}
    for line in notes:
        if line.startswith(UNSEEN):
            key, where, tools, calls = json.loads(line.removeprefix(UNSEEN))
            last[key] = where, tuple(tools), int(calls)
    kinds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for where, tools, calls in last.values():
        kinds.setdefault((where, tools), []).append(calls)
    return [Unseen(*kind, len(counts), sum(counts)) for kind, counts in kinds.items()]


def unseen_calls(notes: Iterable[str], tool: str) -> int:
    """Return how many calls a tool did not observe."""
    return sum(x.calls for x in unseen_of(notes) if tool in x.tools)
