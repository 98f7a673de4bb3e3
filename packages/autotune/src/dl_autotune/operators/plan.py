"""Budget of tuning. Does not import torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OperatorPlan:
    """Budget for one call.

    :ivar seconds: timeout of the search, without the final races.
    :ivar processes: number of processes of the final race.
    """

    seconds: float = 60.0
    processes: int = 3
    seed: int = 0
