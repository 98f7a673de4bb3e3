"""Verdict on a candidate: a claim that holds in repeated measurements."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .calibration import Calibration
from .interval import Interval, bootstrap
from .quantile import t_quantile
from .race import Race


class Verdict(str, enum.Enum):
    """Verdict on a candidate against the baseline."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_WINNER = "no significant winner"
    TAKEN_BACK = "taken back"
    """Faster by itself, but rejected because of its effect on a whole program."""
    UNDER_LOAD = "faster under load"
    """Measured with one thread while other processes kept processors busy; rejected."""


@dataclass(frozen=True)
class Claim:
    """A verdict, and the expected interval of a rerun."""

    verdict: Verdict
    interval: Interval

    def __str__(self) -> str:
        return f"{self.verdict.value}: {self.interval}"


def claim(
    races: Sequence[Race], calibration: Calibration, *, confidence: float = 0.95, seed: int
) -> Claim:
    """Derive a claim from races in separate processes, none of which selected the candidate.

    Times vary between processes, above all with the addresses of their memory, which blocks within
    a process do not show. The interval is therefore the wider of two: the interval of all blocks,
    and the prediction interval for another process. Both are widened by the noise of A/A runs.

    :raises ValueError: ``races`` is empty.
    """
    if not races:
        raise ValueError("[claim] no races were given; a claim needs at least one")
    ratios = [ratio for each in races for ratio in each.ratios]
    interval = bootstrap(ratios, confidence=confidence, seed=seed)
    if len(races) > 1:
        logarithms = np.log([each.interval.ratio for each in races])
        quantile = t_quantile((1 + confidence) / 2, len(races) - 1)
        half = quantile * float(logarithms.std(ddof=1)) * math.sqrt(1 + 1 / len(races))
        middle = float(logarithms.mean())
        interval = Interval(
            math.exp(middle),
            min(interval.low, math.exp(middle - half)),
            max(interval.high, math.exp(middle + half)),
        )
    interval = interval.widened(calibration.noise)
    if interval.faster:
        return Claim(Verdict.FASTER, interval)
    if interval.slower:
        return Claim(Verdict.SLOWER, interval)
    return Claim(Verdict.NO_WINNER, interval)
