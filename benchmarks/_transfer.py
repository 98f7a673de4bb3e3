"""Replay of searches that start from an earlier study, also from misleading ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from dl_autotune.runners.replay import fractions, replay
from dl_autotune.spaces import Config
from dl_autotune.spaces.recorded import Recording
from dl_autotune.strategies import DEFAULT, Known, Prior, make_strategy

PREFIX = "transfer"
_STUDY = 120
"""Number of trials of an earlier study."""
Trials = list[tuple[Config, float | None]]


def _speed(milliseconds: float) -> float | None:
    return None if math.isnan(milliseconds) else 1 / milliseconds


@functools.lru_cache(maxsize=4096)
def _evaluated(recording: int, seed: int) -> tuple[int, ...]:
    found = _RECORDINGS[recording]
    strategy = make_strategy(DEFAULT, found.space, seed=10_000 + seed)
    return tuple(replay(found, strategy, _STUDY, 4))


_RECORDINGS: dict[int, Recording] = {}


def earlier_study(recording: Recording, seed: int) -> Trials:
    """Return the trials of a search by the default strategy, with a seed of its own."""
    _RECORDINGS[id(recording)] = recording
    points = _evaluated(id(recording), seed)
    return [(recording.space.config(p), _speed(recording.milliseconds[p])) for p in points]


def _random_points(recording: Recording, seed: int) -> list[int]:
    return recording.space.sample(_STUDY, seed=20_000 + seed)


def _inverted(recording: Recording, seed: int) -> Trials:
    """Return random points of this space with inverted speeds: failures are the best."""
    points = _random_points(recording, seed)
    return [
        (recording.space.config(p), float(np.nan_to_num(recording.milliseconds[p], nan=1e6)))
        for p in points
    ]


def _worst(recording: Recording, seed: int) -> Trials:
    """Return the worst points of all, each with a random speed."""
    order = np.argsort(-np.nan_to_num(recording.milliseconds, nan=math.inf), kind="stable")
    speeds = np.random.default_rng(seed).uniform(1.0, 2.0, _STUDY)
    chosen = [int(p) for p in order[:_STUDY]]
    return [(recording.space.config(p), float(v)) for p, v in zip(chosen, speeds, strict=False)]


def _labels(recording: Recording, seed: int) -> Trials:
    """Return random points with random speeds."""
    speeds = np.random.default_rng(seed).uniform(0.5, 2.0, _STUDY)
    points = _random_points(recording, seed)
    return [(recording.space.config(p), float(v)) for p, v in zip(points, speeds, strict=True)]


def _outside(recording: Recording, seed: int) -> Trials:
    """Return inverted trials whose numbers are values of another space."""
    rng = np.random.default_rng(seed)

    def scale_numbers(config: Config) -> Config:
        return {
            n: v if isinstance(v, (str, bool)) else v * float(rng.choice([0.37, 1.9, 40.0]))
            for n, v in config.items()
        }

    return [(scale_numbers(config), speed) for config, speed in _inverted(recording, seed)]


ADVERSARIES: dict[str, Callable[[Recording, int], Trials]] = {
    f"{PREFIX}:inverted": _inverted,
    f"{PREFIX}:worst": _worst,
    f"{PREFIX}:random-labels": _labels,
    f"{PREFIX}:other-values": _outside,
}


def family(name: str) -> str:
    """Return the kernel of a recording's name, such as ``halo_wide``."""
    return name.partition("_")[0]


def run_transfer(
    recording: Recording,
    name: str,
    others: Sequence[Recording],
    seeds: int,
    after: Sequence[int],
    batch: int,
) -> list[list[float]]:
    """Replay searches with a prior.

    :param name: ``transfer``: an earlier study of the same kernel on each of the other devices or
        shapes, one at a time; or one of :data:`ADVERSARIES`.
    :param others: recordings of the same kernel; without any, ``transfer`` has no rows.
    """
    rows = []
    for seed in range(seeds):
        if name == PREFIX:
            studies = [earlier_study(each, seed) for each in others]
        else:
            studies = [ADVERSARIES[name](recording, seed)]
        for trials in studies:
            known = Known.of(recording.space, trials)
            prior = None if known is None else Prior(recording.space, [known], seed)
            strategy = make_strategy(DEFAULT, recording.space, seed=seed, prior=prior)
            points = replay(recording, strategy, after[-1], batch)
            rows.append(fractions(recording, points, after))
    return rows
