"""Regular expressions that cannot hang: the regular part of Python's syntax, matched all at once.

Python's own tries one way after another, which for ``(.*)*x`` are more than time is left. Here all
ways are followed together (Thompson's construction), and the work is bounded. Left out is what
needs the other way: back references, looking around, possessive repeats; and flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dl_core.pattern_syntax import Anchor, Choice, Node, PatternError, Repeat, Row, Set, parse

__all__ = ["PatternError", "Patterns"]

_MOST_STATES = 5_000
"""Of one pattern; a repeat counts as often as it may happen."""
_MOST_WORK = 5_000_000
"""States that are visited before the patterns are given up; a second or two."""


class _State(NamedTuple):
    """One place in a pattern: a character leads on, or nothing is needed to go on."""

    accepts: Set | None
    anchor: str
    following: list[int]


class Patterns:
    """Several patterns; a name matches if one of them matches all of it.

    >>> Patterns(["add.*", "mul_?"]).fullmatch("mul")
    True

    :raises PatternError: one is none of these. The message says which, and why.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._states: list[_State] = []
        self._end = self._add(_State(None, "", []))
        self._room = 0
        self._work = _MOST_WORK
        starts = [self._start_of(text) for text in texts]
        self._start = self._closed(starts, at_start=True)
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._ends: dict[frozenset[int], bool] = {}

    def fullmatch(self, name: str) -> bool:
        """Whether one matches all of ``name``.

        :raises PatternError: they need too much work.
        """
        here = self._start
        for character in name:
            following = self._steps.get((here, character))
            if following is None:
                following = self._closed(self._after(here, character))
                self._steps[here, character] = following
            here = following
            if not here:
                return False
        found = self._ends.get(here)
        if found is None:
            ends = self._closed(here, at_start=not name, at_end=True)
            found = self._ends[here] = self._end in ends
        return found

    def _after(self, here: frozenset[int], character: str) -> Iterator[int]:
        for index in here:
            accepts, _, following = self._states[index]
            if accepts is not None and character in accepts:
                yield from following

    def _closed(
        self, indices: Iterable[int], *, at_start: bool = False, at_end: bool = False
    ) -> frozenset[int]:
        """Those, and all that can be reached without a character."""
        seen: set[int] = set()
        waiting = list(indices)
        while waiting:
            index = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            accepts, anchor, following = self._states[index]
            if accepts is None and (
                not anchor or (at_start and anchor == "^") or (at_end and anchor == "$")
            ):
                waiting += following
        self._work -= len(seen) + 1
        if self._work < 0:
            raise PatternError("the patterns need too much work; write names, or simpler ones")
        return frozenset(seen)

    def _start_of(self, text: str) -> int:
        self._room = _MOST_STATES
        try:
            return self._built(parse(text), self._end)
        except PatternError as error:
            shown = text if len(text) <= 60 else f"{text[:60]}…"
            raise PatternError(f"{shown!r} is not a regular expression here: {error}") from None

    def _add(self, state: _State) -> int:
        self._states.append(state)
        return len(self._states) - 1

    def _built(self, node: Node, following: int) -> int:
        """The first state of a part of a pattern that leads to ``following``."""
        self._room -= 1
        if self._room < 0:
            raise PatternError(f"it is too long, repeats included (at most {_MOST_STATES} places)")
        if isinstance(node, Set):
            return self._add(_State(node, "", [following]))
        if isinstance(node, Anchor):
            return self._add(_State(None, node.at, [following]))
        if isinstance(node, Row):
            for part in reversed(node.parts):
                following = self._built(part, following)
            return following
        if isinstance(node, Choice):
            starts = [self._built(part, following) for part in node.parts]
            return self._add(_State(None, "", starts))
        return self._repeated(node, following)

    def _repeated(self, node: Repeat, following: int) -> int:
        start = following
        if node.most is None:
            start = self._add(_State(None, "", [following]))
            self._states[start].following.append(self._built(node.part, start))
        else:
            for _ in range(node.most - node.least):
                start = self._add(_State(None, "", [self._built(node.part, start), following]))
        for _ in range(node.least):
            start = self._built(node.part, start)
        return start
