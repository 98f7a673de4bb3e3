"""How much is spent. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OperatorPlan:
    """How much is spent on one call.

    :ivar seconds: of searching; the last races come on top.
    :ivar processes: in which what was found is raced at the end.
    """

    seconds: float = 60.0
    processes: int = 3
    seed: int = 0
