"""Result of the work on one bundle, sent from the child to its parent. Imports no torch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

WRONG = 1
"""Exit code if a result is wrong, a call raises, or its child ends."""
REFUSED = 2
"""Exit code if a bundle cannot be used."""


@dataclass
class Answer:
    """Texts for the terminal, and the exit code.

    :ivar rows: rows of the table.
    :ivar lines: lines below the table.
    :ivar errors: lines for standard error.
    """

    rows: list[list[str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    code: int = 0

    @classmethod
    def refused(cls, text: str) -> Answer:
        return cls(errors=[text], code=REFUSED)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def read(cls, value: Any) -> Answer:
        """Parse a child's answer; a bundle may have taken control of the child.

        :raises ValueError: it is not an answer.
        """
        if not isinstance(value, dict) or value.keys() != cls().as_json().keys():
            raise ValueError("it has other fields")
        found = cls(**value)
        rows = found.rows if isinstance(found.rows, list) else [None]
        for texts in (found.lines, found.errors, *rows):
            if not isinstance(texts, list) or not all(isinstance(x, str) for x in texts):
                raise ValueError("its fields are not lists of texts")
        if type(found.code) is not int or not 0 <= found.code <= REFUSED:
            raise ValueError("its exit code is invalid")
        return found
