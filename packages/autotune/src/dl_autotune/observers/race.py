"""Races: baseline and candidate run in paired blocks of random order until the result is clear.

A slowdown of the machine that lasts longer than a block affects both sides, so their ratio does not
change. A baseline that was measured once, at another time, would not be comparable.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field

from .interval import Interval, bootstrap
from .warmup import Run, warm_up


@dataclass(frozen=True)
class RaceSettings:
    """Limits of a race.

    :ivar looks: numbers of blocks after which the race may end (interim analyses); each one spends
        a share of the error probability, so that more analyses find no more winners by chance.
    :ivar repeats: number of runs of each side in a block; their median counts.
    :ivar confidence: confidence level of the whole race.
    :ivar precision: relative width of the interval at which the race ends without a winner.
    :ivar hopeless: the race ends if the ratio of the candidate is significantly below this value.
    :ivar seconds: measured time after which the next interim analysis is the last one.
    """

    looks: tuple[int, ...] = (8, 16, 32)
    repeats: int = 3
    confidence: float = 0.95
    precision: float = 0.01
    hopeless: float = 0.0
    seconds: float = 10.0


@dataclass(frozen=True)
class Race:
    """Result of a race.

    :ivar interval: interval of the ratio of times, baseline divided by candidate.
    :ivar baseline: seconds of every counted run of the baseline.
    :ivar candidate: seconds of every counted run of the candidate.
    """

    interval: Interval
    ratios: tuple[float, ...]
    baseline: tuple[float, ...] = field(repr=False)
    candidate: tuple[float, ...] = field(repr=False)


def race(baseline: Run, candidate: Run, settings: RaceSettings | None = None, *, seed: int) -> Race:
    """Race two callables that run once and return their seconds.

    The race ends at the first interim analysis at which one side is significantly faster, the
    interval is narrow, or the time is up.

    :param seed: seed of the order within blocks and of the bootstrap.
    """
    settings = settings or RaceSettings()
    rng = random.Random(seed)
    warm_up(baseline)
    warm_up(candidate)
    confidence = 1 - (1 - settings.confidence) / len(settings.looks)
    times: tuple[list[float], list[float]] = ([], [])
    ratios: list[float] = []
    spent = 0.0
    interval = Interval(1.0, 0.0, float("inf"))
    for look in settings.looks:
        while len(ratios) < look and not (spent > settings.seconds and len(ratios) >= 2):
            medians = [0.0, 0.0]
            for side in rng.sample((0, 1), 2):
                block = [(baseline, candidate)[side]() for _ in range(settings.repeats)]
                times[side].extend(block)
                spent += sum(block)
                medians[side] = statistics.median(block)
            ratios.append(medians[0] / medians[1])
        interval = bootstrap(ratios, confidence=confidence, seed=seed)
        decided = interval.low > 1 or interval.high < 1
        narrow = interval.high - interval.low <= 2 * settings.precision * interval.ratio
        if interval.high < settings.hopeless or (decided and narrow):
            break
        if narrow or spent > settings.seconds:
            break
    return Race(interval, tuple(ratios), tuple(times[0]), tuple(times[1]))
