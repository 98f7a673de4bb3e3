"""Patterns of tools' lists that no operator of a program matched: mostly a name that is misspelt.

Each process notes its own; the command that started the program knows when it has all of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from dl_optools.launching.launch import STARTED, UNMET
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import note
from dl_optools.selection import unmet_texts


@dataclass(frozen=True)
class Unmet:
    """What one tool did not meet.

    :ivar patterns: of its list, each with the nearest name that was met, or "".
    :ivar everything: there are no others in the list.
    :ivar asked: False: it was not asked for any operator, so this says nothing.
    """

    tool: str
    patterns: Mapping[str, str]
    everything: bool
    asked: bool = True

    def texts(self) -> list[str]:
        """A line for each pattern."""
        return unmet_texts(self.tool, self.patterns)


def note_unmet(environ: Mapping[str, str], found: Unmet) -> None:
    """Tell the command that started the program; without one, standard error."""
    if environ.get(NOTES_VARIABLE):
        note(environ, UNMET + json.dumps(astuple(found)))
        return
    for text in found.texts():
        note(environ, text)


def unmet_of(notes: Sequence[str]) -> list[Unmet]:
    """What no process met.

    A process that did not come to its end says nothing: it may have met them all.
    """
    started = Counter(
        line.removeprefix(STARTED).partition(",")[0] for line in notes if line.startswith(STARTED)
    )
    by_tool: dict[str, list[Unmet]] = {}
    for line in notes:
        if line.startswith(UNMET):
            found = Unmet(*json.loads(line.removeprefix(UNMET)))
            by_tool.setdefault(found.tool, []).append(found)
    whole = [each for tool, each in by_tool.items() if len(each) == started[tool]]
    known = [asked for each in whole if (asked := [one for one in each if one.asked])]
    return [
        Unmet(
            each[0].tool,
            _in_all(one.patterns for one in each),
            all(one.everything for one in each),
        )
        for each in known
    ]


def _in_all(lists: Iterable[Mapping[str, str]]) -> dict[str, str]:
    first, *others = lists
    return {name: near for name, near in first.items() if all(name in other for other in others)}
