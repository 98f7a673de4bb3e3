"""Patterns of tools' lists that no operator of a program matched, usually misspelled names.

Each process notes its unmatched patterns; the command that started the program intersects them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from dl_optools.launching.launch import STARTED, UNMATCHED
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import note
from dl_optools.selection import unmatched_texts


@dataclass(frozen=True)
class UnmatchedPatterns:
    """Unmatched patterns of one tool.

    :ivar patterns: patterns of its list, each with the closest name that was called, or "".
    :ivar everything: no pattern of the list matched.
    :ivar asked: if False, no operator was looked up, so that the patterns may still be right.
    """

    tool: str
    patterns: Mapping[str, str]
    everything: bool
    asked: bool = True

    def texts(self) -> list[str]:
        """Return a line for each pattern."""
        return unmatched_texts(self.tool, self.patterns)


def note_unmatched(environ: Mapping[str, str], found: UnmatchedPatterns) -> None:
    """Send a note to the command that started the program, or write it to standard error."""
    if environ.get(NOTES_VARIABLE):
        note(environ, UNMATCHED + json.dumps(astuple(found)))
        return
    for text in found.texts():
        note(environ, text)


def unmatched_of(notes: Sequence[str]) -> list[UnmatchedPatterns]:
    """Return the patterns that no process matched.

    A process that did not reach its end is ignored: it may have matched them all.
    """
    started = Counter(
        line.removeprefix(STARTED).partition(",")[0] for line in notes if line.startswith(STARTED)
    )
    by_tool: dict[str, list[UnmatchedPatterns]] = {}
    for line in notes:
        if line.startswith(UNMATCHED):
            found = UnmatchedPatterns(*json.loads(line.removeprefix(UNMATCHED)))
            by_tool.setdefault(found.tool, []).append(found)
    whole = [each for tool, each in by_tool.items() if len(each) == started[tool]]
    known = [asked for each in whole if (asked := [one for one in each if one.asked])]
    return [
        UnmatchedPatterns(
            each[0].tool,
            _in_all(one.patterns for one in each),
            all(one.everything for one in each),
        )
        for each in known
    ]


def _in_all(lists: Iterable[Mapping[str, str]]) -> dict[str, str]:
    first, *others = lists
    return {name: near for name, near in first.items() if all(name in other for other in others)}
