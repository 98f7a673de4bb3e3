"""Outcome of a case or check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

NOT_IMPLEMENTED = "not implemented"
"""Cause of an unsupported case whose operator the library does not have."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case or check.

    :ivar dtype: empty for runtime checks.
    :ivar status: ``passed``, ``failed``, ``unsupported``, ``skipped``, or ``unchecked``: the case
        ran, but a library that writes nothing would have passed too.
    :ivar detail: further lines about the cause; of a declined case, the library's own words.
    :ivar worst: error of the worst element in units of its bound; NaN without a bound.
    :ivar conversions: counts of the adaptor's conversions.
    :ivar remedy: what to do about the failure, with which the detail ends; empty if unknown.
    """

    name: str
    operator: str
    dtype: str
    status: str
    cause: str = ""
    detail: str = ""
    worst: float = math.nan
    seconds: float = 0.0
    conversions: Mapping[str, int] = field(default_factory=dict)
    remedy: str = ""

    @property
    def is_declined(self) -> bool:
        """Return True if the library has the operator, but declined the call."""
        return self.status == "unsupported" and self.cause != NOT_IMPLEMENTED

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Outcome:
        """Create an outcome from its entry in a report, which omits empty values.

        :raises TypeError: the entry is not an outcome.
        """
        return cls(**{"dtype": "", **found})
