"""Figures and verdicts from the runs of a case."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import accumulate
from typing import Any

from .cases import DIGITS_ACCURACY, EARLY_DISTANCE, EARLY_STEPS, SPREAD
from .operators import OperatorTime, Share, native_share, operator_times
from .runner import Curve, Measurement

# The first steps allocate, choose kernels and fill caches; they do not count for step times.
WARM_UP = 3


@dataclass(frozen=True)
class Distance:
    """Absolute difference of two loss curves, over all steps; ``early`` is relative."""

    largest: float
    mean: float
    early: float


@dataclass(frozen=True)
class Result:
    """Results of one case for the report."""

    measurement: Measurement
    distance: Distance
    own_distance: Distance
    step_dl: float
    step_cpu: float
    share: Share
    fallbacks: list[OperatorTime]

    def as_json(self) -> dict[str, Any]:
        """Return the figures of the report; the curves are in the files of the runs."""
        runs = {"dl": self.measurement.dl, "cpu": self.measurement.cpu}
        return {
            "case": self.measurement.case.name,
            "accuracy": {name: run.accuracy for name, run in runs.items()},
            "last_loss": {name: run.losses[-1] for name, run in runs.items()},
            "distance": asdict(self.distance),
            "cpu_own_distance": asdict(self.own_distance),
            "median_step_seconds": {"dl": self.step_dl, "cpu": self.step_cpu},
            "native_share": asdict(self.share),
            "fallbacks": [asdict(entry) for entry in self.fallbacks],
            "peak_allocated_bytes": self.measurement.dl.peak_allocated,
            "peak_resident_bytes": {name: run.peak_resident for name, run in runs.items()},
        }


def distance(a: Curve, b: Curve) -> Distance:
    """Return the distance of the curves ``a`` and ``b``.

    :raises ValueError: they have different numbers of steps.
    """
    gaps = [abs(x - y) for x, y in zip(a.losses, b.losses, strict=True)]
    return Distance(max(gaps), statistics.fmean(gaps), max(early_gaps(a, b)))


def widest(distances: Sequence[Distance]) -> Distance:
    """Return the maximum of each figure."""
    return Distance(*map(max, zip(*map(astuple, distances), strict=True)))


def early_gaps(a: Curve, b: Curve) -> list[float]:
    """Return the relative distance of each of the first steps."""
    pairs = list(zip(a.losses, b.losses, strict=True))[:EARLY_STEPS]
    return [abs(x - y) / max(abs(y), 1e-30) for x, y in pairs]


def median_step(curve: Curve) -> float:
    """Return the median seconds of a step after the warm-up."""
    return statistics.median(curve.step_seconds[WARM_UP:])


def ends(curve: Curve) -> tuple[float, float]:
    """Return the mean loss of the first tenth of the steps, and of the last tenth."""
    tenth = max(1, len(curve.losses) // 10)
    return statistics.fmean(curve.losses[:tenth]), statistics.fmean(curve.losses[-tenth:])


def falling(curve: Curve) -> bool:
    """Return True if the loss is finite and ends lower than it begins."""
    start, end = ends(curve)
    return all(map(math.isfinite, curve.losses)) and end < start


def evaluate(measurement: Measurement) -> Result:
    """Return distances, step times and the native share of one case."""
    native = operator_times(measurement.operators["native"])
    fallbacks = operator_times(measurement.operators["fallback"])
    return Result(
        measurement,
        distance(measurement.dl, measurement.cpu),
        widest([distance(run, measurement.cpu) for run in measurement.rounded]),
        median_step(measurement.dl),
        median_step(measurement.cpu),
        native_share(native, fallbacks),
        fallbacks,
    )


def allowed_gaps(result: Result, exact: Result | None) -> list[float]:
    """Return the allowed distance between dl and the CPU at each of the first steps.

    A distance that the CPU itself reaches with other roundings or lower precision is allowed from
    that step on.
    """
    runs = result.measurement
    others = [*runs.rounded, *([exact.measurement.cpu] if exact else [])]
    own = [max(gaps) for gaps in zip(*(early_gaps(run, runs.cpu) for run in others), strict=True)]
    return [
        max(EARLY_DISTANCE[runs.case.dtype], SPREAD * reached) for reached in accumulate(own, max)
    ]


def failures(result: Result, *, quick: bool, exact: Result | None = None) -> Iterator[str]:
    """Yield a sentence for each problem with ``result``.

    ``exact`` is the float32 result of the same example if ``result`` has lower precision.
    """
    case = result.measurement.case
    for device, curve in (("dl", result.measurement.dl), ("cpu", result.measurement.cpu)):
        where = f"{case.name} on {device}"
        start, end = ends(curve)
        if not all(map(math.isfinite, curve.losses)):
            yield f"{where}: a loss is not finite"
        elif end >= start:
            yield f"{where}: the loss did not fall ({start:.3f} to {end:.3f})"
        if case.example == "cnn" and not quick and curve.accuracy <= DIGITS_ACCURACY:
            yield f"{where}: accuracy {curve.accuracy:.2%}, needed more than {DIGITS_ACCURACY:.0%}"
    gaps = early_gaps(result.measurement.dl, result.measurement.cpu)
    for step, (gap, allowed) in enumerate(zip(gaps, allowed_gaps(result, exact), strict=True)):
        if not gap <= allowed:
            yield (
                f"{case.name}: at step {step} the loss on dl is {gap:.1e} from the CPU's "
                f"(relative), allowed {allowed:.1e}"
            )
            break
    if not result.share.calls:
        yield f"{case.name}: no operator call was counted on dl"
