"""Recorded search spaces, read from T4 result files and Kernel Tuner caches.

A replay takes the values for a strategy from such a recording, so that strategies can be compared
without a device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SpaceError
from .parameter import Config
from .result_file import read_result_file
from .space import SearchSpace
from .units import milliseconds_per


@dataclass(frozen=True)
class Recording:
    """A space in which every recorded configuration was measured.

    :ivar milliseconds: mean time of each point, NaN if the configuration is invalid.
    :ivar runs: times of each point in milliseconds, empty if it is invalid.
    :ivar reasons: reason why a point is invalid, empty if it is valid.
    """

    name: str
    space: SearchSpace
    milliseconds: NDArray[np.float64]
    runs: tuple[tuple[float, ...], ...]
    reasons: tuple[str, ...]

    @property
    def best(self) -> float:
        """Shortest time in milliseconds."""
        return float(np.nanmin(self.milliseconds))


def read_recording(path: Path) -> Recording:
    """Read a T4 file or a Kernel Tuner cache, detected by its content; ``.gz`` is unpacked.

    Times of a T4 file are in the unit that the file names, in ``metadata.timeunit`` or in the
    measurement ``time`` of each result; without either they are milliseconds, as in a cache.
    A cache that an interrupted run left open is read up to its last complete entry.

    :raises SpaceError: the file is neither, names an unknown unit or two different units, or has no
        valid configuration; the message names the file.
    """
    document = read_result_file(path)
    if isinstance(document.get("results"), list):
        found = list(_read_t4(path, document.get("metadata"), document["results"]))
    elif isinstance(document.get("cache"), dict):
        names = document.get("tune_params_keys")
        if not isinstance(names, list):
            raise SpaceError(f"[space] {path}: a cache without tune_params_keys")
        found = list(_read_cache(path, names, document["cache"]))
    else:
        raise SpaceError(
            f"[space] {path} is neither a T4 file (results) nor a Kernel Tuner cache (cache)"
        )
    space = SearchSpace.of_configs([config for config, _, _ in found])
    order = space.points_of([config for config, _, _ in found])
    times = np.full(space.size, math.nan)
    runs: list[tuple[float, ...]] = [()] * space.size
    reasons = [""] * space.size
    for point, (_, measured, reason) in zip(order, found, strict=True):
        runs[point], reasons[point] = measured, reason
        if measured:
            times[point] = float(np.mean(measured))
    if np.isnan(times).all():
        raise SpaceError(f"[space] {path}: no configuration was measured")
    name = path.name.removesuffix(".gz").removesuffix(".json")
    return Recording(
        name.removesuffix("_T4").removesuffix("_KT"), space, times, tuple(runs), tuple(reasons)
    )


_Found = tuple[Config, tuple[float, ...], str]
_NO_TIME = "no finite, positive time was recorded"


def _read_t4(path: Path, metadata: Any, results: list[Any]) -> Iterator[_Found]:
    of_file = metadata.get("timeunit") if isinstance(metadata, dict) else None
    for number, result in enumerate(results):
        try:
            config: Config = result["configuration"]
            reason = str(result.get("invalidity", "correct"))
            measured = _time_measurement(result)
            factor = _t4_factor(of_file, measured)
            runs = _valid_times(result["times"].get("runtimes"), factor)
            # Kernel Tuner writes the name of the error as the time of a failed configuration.
            if not runs and measured and reason == "correct":
                runs = _valid_times([measured["value"]], factor)
        except SpaceError as error:
            raise SpaceError(f"{error} ({path}, result {number})") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SpaceError(
                f"[space] {path}: result {number} does not follow the T4 schema: {error!r}"
            ) from None
        if reason != "correct":
            yield config, (), reason
        else:
            yield config, runs, "" if runs else _NO_TIME


def _time_measurement(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the measurement of a T4 result that is its time, if it has one."""
    for each in result.get("measurements") or ():
        if each.get("name") == "time":
            return dict(each)
    return None


def _t4_factor(of_file: object, measured: Mapping[str, Any] | None) -> float:
    """Return the factor from the times of a T4 result to milliseconds."""
    named = [of_file, measured.get("unit") if measured else None]
    factors = {milliseconds_per(unit) for unit in named if unit not in (None, "")}
    if len(factors) > 1:
        raise SpaceError(
            f"[space] metadata.timeunit is {named[0]!r}, but the measurement is in {named[1]!r};"
            " give one unit"
        )
    return factors.pop() if factors else 1.0


def _read_cache(path: Path, names: list[str], cache: Mapping[str, Any]) -> Iterator[_Found]:
    for key, entry in cache.items():
        try:
            config: Config = {name: entry[name] for name in names}
            failed = not isinstance(entry["time"], (int, float))
            runs = () if failed else _valid_times(entry.get("times") or [entry["time"]])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SpaceError(
                f"[space] {path}: entry {key} does not follow the cache's schema: {error!r}"
            ) from None
        yield config, runs, str(entry["time"]) if failed else "" if runs else _NO_TIME


def _valid_times(values: Any, factor: float = 1.0) -> tuple[float, ...]:
    times = (float(value) * factor for value in values or ())
    return tuple(time for time in times if math.isfinite(time) and time > 0)
