"""What processes say of operators that no tool saw, put together. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

UNSEEN = "unseen: "
"""How a note begins that counts operators which ran on the device where a tool did not look."""


@dataclass(frozen=True)
class Unseen:
    """Calls that one kind of tool did not see.

    :ivar where: ``forked process`` or ``thread``.
    :ivar places: how many of them.
    """

    where: str
    tools: tuple[str, ...]
    places: int
    calls: int

    def text(self) -> str:
        plural = "" if self.places == 1 else "es" if self.where.endswith("s") else "s"
        return (
            f"{self.places} {self.where}{plural} made {self.calls} calls on the device where "
            f"{', '.join(self.tools)} did not look"
        )


def unseen_of(notes: Iterable[str]) -> list[Unseen]:
    """All that was told, by kind."""
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
    """How many calls a tool did not see."""
    return sum(x.calls for x in unseen_of(notes) if tool in x.tools)
