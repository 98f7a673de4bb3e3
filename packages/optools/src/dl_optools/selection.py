"""Selection of operators by lists of names and regular expressions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

EVERYTHING = ".*"
OTHER_LEVEL = "--level "
"""Prefix of a suggestion to use another level, which has operators with the suggested name."""


class PatternError(ValueError):
    """A list of operators holds an invalid regular expression."""


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


def _compile(patterns: Iterable[str], source: str) -> tuple[re.Pattern[str], ...]:
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
    """Names that match a pattern of ``include`` as a whole and none of ``exclude``.

    :ivar asked: names that were looked up.
    """

    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    asked: dict[str, None] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        include: str | Iterable[str] = EVERYTHING,
        exclude: str | Iterable[str] = (),
        source: str = "operators",
    ) -> Selection:
        """Read two lists; a string is split at its commas.

        :param source: variable or argument, for errors.
        :raises PatternError: a pattern is not a regular expression.
        """
        parts = [split_list(x) if isinstance(x, str) else tuple(x) for x in (include, exclude)]
        return cls(_compile(parts[0], source), _compile(parts[1], source))

    def __contains__(self, name: str) -> bool:
        return self.matches(name)

    def matches(self, *names: str) -> bool:
        """Return True if a call that has these names is selected."""
        self.asked.update(dict.fromkeys(names))
        return any(p.fullmatch(name) for p in self.include for name in names) and not any(
            p.fullmatch(name) for p in self.exclude for name in names
        )

    def is_listed_exactly(self, name: str) -> bool:
        """Return True if a name is listed exactly, rather than matched by an expression."""
        spellings = (name, re.escape(name))
        return name in self and any(x.pattern in spellings for x in self.include)

    def unmatched(self) -> dict[str, str]:
        """Return patterns that no name matched, each with the closest name, or "".

        See :meth:`.Tool.unmatched`, which also considers levels.
        """
        return {
            pattern.pattern: _nearest(pattern, self.asked)
            for pattern in self.include
            if not any(map(pattern.fullmatch, self.asked))
        }


def _nearest(pattern: re.Pattern[str], names: Iterable[str]) -> str:
    """Return a name that ends with the pattern, else one with a similar spelling."""
    parts = [name for name in names if pattern.fullmatch(name.rpartition(".")[2])]
    plain = pattern.pattern.replace("\\", "")
    return "".join(parts[:1] or difflib.get_close_matches(plain, names, 1, 0.8))


def unmatched_texts(tool: str, patterns: Mapping[str, str]) -> list[str]:
    """Return a line for each pattern of :meth:`Selection.unmatched`."""
    return [
        f"{tool}: the program called no operator that {pattern!r} matches; {_advice(near)}"
        for pattern, near in patterns.items()
    ]


def _advice(near: str) -> str:
    if near.startswith(OTHER_LEVEL):
        level = near.removeprefix(OTHER_LEVEL)
        return f"operators of level {level} have such names: use `{near}`"
    return f"did you mean {near}?" if near else "`dl tool observe` lists the operators"
