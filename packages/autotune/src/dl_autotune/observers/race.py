"""A race: baseline and candidate in paired blocks of random order, until enough is known.

Whatever slows the machine down for longer than a block slows both down, and the ratio of the two
stays. A baseline that was measured once, at another time, is not a baseline.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field

from .interval import Interval, bootstrap
from .warmup import Run, warm_up


@dataclass(frozen=True)
class RaceSettings:
    """How long a race may be.

    :ivar looks: the numbers of blocks after which it may end; each look has its share of the
        error, so that looking often finds no more winners by chance.
    :ivar repeats: runs of each side in a block, of which the median counts.
    :ivar confidence: of the whole race.
    :ivar precision: an interval this narrow, as a share, ends the race without a winner.
    :ivar hopeless: a candidate whose ratio is surely below this ends the race.
    :ivar seconds: of measured time, after which the next look is the last.
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

    :ivar interval: of the ratio of times, baseline by candidate.
    :ivar baseline: seconds of every run that counted.
    :ivar candidate: the same.
    """

    interval: Interval
    ratios: tuple[float, ...]
    baseline: tuple[float, ...] = field(repr=False)
    candidate: tuple[float, ...] = field(repr=False)


def race(baseline: Run, candidate: Run, settings: RaceSettings | None = None, *, seed: int) -> Race:
    """Race two callables that run once and return their seconds.

    Ends at the first look at which one is surely faster, or the interval is narrow, or time is up.

    :param seed: of the order within blocks, and of the bootstrap.
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
