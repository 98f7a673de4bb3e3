"""Numbers and verdicts from the runs of a case."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .cases import DIGITS_ACCURACY, EARLY_DISTANCE, EARLY_STEPS
from .operators import OperatorTime, Share, native_share, operator_times
from .runner import Curve, Measurement

# The first steps allocate, choose kernels and fill caches; no step time counts them.
WARM_UP = 3


@dataclass(frozen=True)
class Distance:
    """Absolute difference of two loss curves, over all steps; ``early`` is relative."""

    largest: float
    mean: float
    early: float


@dataclass(frozen=True)
class Result:
    """One case as the report shows it."""

    measurement: Measurement
    distance: Distance
    own_distance: Distance | None
    step_dl: float
    step_cpu: float
    share: Share
    fallbacks: list[OperatorTime]

    def as_json(self) -> dict[str, Any]:
        """Return the numbers of the report; the curves stand in the files of the runs."""
        runs = {"dl": self.measurement.dl, "cpu": self.measurement.cpu}
        return {
            "case": self.measurement.case.name,
            "accuracy": {name: run.accuracy for name, run in runs.items()},
            "last_loss": {name: run.losses[-1] for name, run in runs.items()},
            "distance": asdict(self.distance),
            "cpu_own_distance": asdict(self.own_distance) if self.own_distance else None,
            "median_step_seconds": {"dl": self.step_dl, "cpu": self.step_cpu},
            "native_share": asdict(self.share),
            "fallbacks": [asdict(entry) for entry in self.fallbacks],
            "peak_allocated_bytes": self.measurement.dl.peak_allocated,
            "peak_resident_bytes": {name: run.peak_resident for name, run in runs.items()},
        }


def distance(a: Curve, b: Curve) -> Distance:
    """Return how far the curves ``a`` and ``b`` are apart.

    :raises ValueError: they have different numbers of steps.
    """
    pairs = list(zip(a.losses, b.losses, strict=True))
    gaps = [abs(x - y) for x, y in pairs]
    early = max(abs(x - y) / max(abs(y), 1e-30) for x, y in pairs[:EARLY_STEPS])
    return Distance(max(gaps), statistics.fmean(gaps), early)


def median_step(curve: Curve) -> float:
    """Return the median seconds of a step after the warm-up."""
    return statistics.median(curve.step_seconds[WARM_UP:])


def evaluate(measurement: Measurement) -> Result:
    """Return distances, step times and the native share of one case."""
    native = operator_times(measurement.operators["native"])
    fallbacks = operator_times(measurement.operators["fallback"])
    again = measurement.cpu_again
    return Result(
        measurement,
        distance(measurement.dl, measurement.cpu),
        distance(again, measurement.cpu) if again else None,
        median_step(measurement.dl),
        median_step(measurement.cpu),
        native_share(native, fallbacks),
        fallbacks,
    )


def failures(result: Result, *, quick: bool, exact: Result | None = None) -> Iterator[str]:
    """Yield a sentence for each thing that is wrong with ``result``.

    ``exact`` is the float32 result of the same example: what a lower precision does to the CPU's
    own curve, it may do twice to the distance between the devices.
    """
    case = result.measurement.case
    for device, curve in (("dl", result.measurement.dl), ("cpu", result.measurement.cpu)):
        where = f"{case.name} on {device}"
        tenth = max(1, len(curve.losses) // 10)
        start = statistics.fmean(curve.losses[:tenth])
        end = statistics.fmean(curve.losses[-tenth:])
        if not all(map(math.isfinite, curve.losses)):
            yield f"{where}: a loss is not finite"
        elif end >= start:
            yield f"{where}: the loss did not fall ({start:.3f} to {end:.3f})"
        if case.example == "cnn" and not quick and curve.accuracy <= DIGITS_ACCURACY:
            yield f"{where}: accuracy {curve.accuracy:.2%}, needed more than {DIGITS_ACCURACY:.0%}"
    allowed = EARLY_DISTANCE[case.dtype]
    if exact is not None:
        allowed = max(allowed, 2 * distance(result.measurement.cpu, exact.measurement.cpu).early)
    if not result.distance.early <= allowed:
        yield (
            f"{case.name}: in the first {EARLY_STEPS} steps the loss on dl is up to "
            f"{result.distance.early:.1e} from the CPU's (relative), allowed {allowed:.1e}"
        )
    if not result.share.calls:
        yield f"{case.name}: no operator call was counted on dl"
