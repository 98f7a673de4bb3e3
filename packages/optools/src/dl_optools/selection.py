"""Which operators a tool looks at: lists of names and regular expressions."""

from __future__ import annotations

import difflib
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
    """Names that match a pattern of ``include`` as a whole and none of ``exclude``.

    :ivar asked: the names that were looked for.
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

        :param source: what the error names: a variable or an argument.
        :raises PatternError: a pattern is not a regular expression.
        """
        parts = [split_list(x) if isinstance(x, str) else tuple(x) for x in (include, exclude)]
        return cls(_compiled(parts[0], source), _compiled(parts[1], source))

    def unmet(self) -> dict[str, str]:
        """Patterns that no name matched, each with the nearest name, or ""."""
        names = list(self.asked)
        return {
            each.pattern: "".join(
                difflib.get_close_matches(each.pattern.replace("\\", ""), names, 1, 0.8)
            )
            for each in self.include
            if not any(map(each.fullmatch, names))
        }

    def __contains__(self, name: str) -> bool:
        self.asked[name] = None
        return any(p.fullmatch(name) for p in self.include) and not any(
            p.fullmatch(name) for p in self.exclude
        )
