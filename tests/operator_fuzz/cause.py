"""A cause of differences: a reason with a precise predicate."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .judge import Difference

Predicate = Callable[[Difference], bool]


@dataclass(frozen=True)
class Cause:
    """A reason for differences, and a predicate for the differences that it explains.

    :ivar kind: pattern of the kinds of differences.
    :ivar operator: pattern of the operators' names.
    :ivar explains: further condition for a difference.
    """

    reason: str
    kind: str
    operator: str = ".*"
    explains: Predicate = lambda difference: True

    def covers(self, difference: Difference) -> bool:
        return bool(
            re.fullmatch(self.kind, difference.kind)
            and re.fullmatch(self.operator, difference.call.target.name)
            and self.explains(difference)
        )
