"""Which operators a tool looks at: lists of names and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

EVERYTHING = ".*"


class PatternError(ValueError):
    """A list of operators holds what is no regular expression."""


def split_list(text: str) -> tuple[str, ...]:
    """Split at commas, except those inside brackets: ``conv.{1,2}d,add`` has two parts."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(depth - 1, 0)
        elif character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return tuple(part.strip() for part in parts if part.strip())


def _compiled(patterns: Iterable[str], source: str) -> tuple[re.Pattern[str], ...]:
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except re.error as error:
            raise PatternError(
                f"[{source}] {pattern!r} is not a regular expression: {error}. Write names of "
                "operators, or expressions that match whole names, separated by commas."
            ) from None
    return tuple(compiled)


@dataclass(frozen=True)
class Selection:
    """Names that match a pattern of ``include`` as a whole and none of ``exclude``."""

    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    source: str = "operators"
    _asked: set[str] = field(default_factory=set, compare=False, repr=False)
    _met: set[re.Pattern[str]] = field(default_factory=set, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        include: str | Iterable[str] = EVERYTHING,
        exclude: str | Iterable[str] = (),
        source: str = "operators",
    ) -> Selection:
        """Read two lists; a string is split at its commas.

        :param source: what messages name: a variable or an argument.
        :raises PatternError: a pattern is not a regular expression.
        """
        parts = [split_list(x) if isinstance(x, str) else tuple(x) for x in (include, exclude)]
        return cls(_compiled(parts[0], source), _compiled(parts[1], source), source)

    def __contains__(self, name: str) -> bool:
        return self.matches(name)

    def matches(self, *names: str) -> bool:
        """Whether a call is selected that goes by any of these names."""
        self._asked.update(names)
        met = [p for p in self.include for name in names if p.fullmatch(name)]
        self._met.update(met)
        return bool(met) and not any(p.fullmatch(name) for p in self.exclude for name in names)

    def complaints(self) -> list[str]:
        """A line for each pattern of ``include`` that has matched no name so far."""
        if not self._asked:
            return []
        found = []
        for pattern in self.include:
            if pattern in self._met or pattern.pattern == EVERYTHING:
                continue
            alike = sorted(name for name in self._asked if pattern.search(name))[:3]
            hint = f"; {' or '.join(alike)} was called" if alike else ""
            found.append(
                f"[{self.source}] {pattern.pattern!r} is the whole name of no operator that the "
                f"program called{hint}"
            )
        return found
