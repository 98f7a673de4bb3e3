"""Spaces that were measured in full, read from files: T4 results, and Kernel Tuner's caches.

A replay answers a strategy from such a record, so that strategies are compared without a device.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SpaceError
from .parameter import Config
from .space import SearchSpace


@dataclass(frozen=True)
class Recording:
    """A space of which every configuration was measured.

    :ivar milliseconds: the mean time of each point, NaN where the candidate is invalid.
    :ivar runs: the single times of each point, empty where it is invalid.
    :ivar reasons: why a point is invalid, empty where it is not.
    """

    name: str
    space: SearchSpace
    milliseconds: NDArray[np.float64]
    runs: tuple[tuple[float, ...], ...]
    reasons: tuple[str, ...]

    @property
    def best(self) -> float:
        """The shortest time, in milliseconds."""
        return float(np.nanmin(self.milliseconds))


def read_recording(path: Path) -> Recording:
    """Read a T4 file or a Kernel Tuner cache, by its content; ``.gz`` is unpacked.

    :raises SpaceError: the file is neither, or has no valid configuration; names the file.
    """
    document = _read(path)
    if isinstance(document.get("results"), list):
        found = list(_of_t4(path, document["results"]))
    elif isinstance(document.get("cache"), dict):
        names = document.get("tune_params_keys")
        if not isinstance(names, list):
            raise SpaceError(f"[space] {path}: a cache without tune_params_keys")
        found = list(_of_cache(path, names, document["cache"]))
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


def _read(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        document = json.loads(content)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise SpaceError(f"[space] {path} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise SpaceError(f"[space] {path} is no JSON object")
    return document


_Found = tuple[Config, tuple[float, ...], str]


def _of_t4(path: Path, results: list[Any]) -> Iterator[_Found]:
    for number, result in enumerate(results):
        try:
            config: Config = result["configuration"]
            reason = str(result.get("invalidity", "correct"))
            runs = _numbers(result["times"].get("runtimes"))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SpaceError(
                f"[space] {path}: result {number} is not as in T4: {error!r}"
            ) from None
        valid = reason == "correct" and bool(runs)
        yield config, runs if valid else (), "" if valid else reason


def _of_cache(path: Path, names: list[str], cache: Mapping[str, Any]) -> Iterator[_Found]:
    for key, entry in cache.items():
        try:
            config: Config = {name: entry[name] for name in names}
            failed = not isinstance(entry["time"], (int, float))
            runs = () if failed else _numbers(entry.get("times") or [entry["time"]])
        except (KeyError, TypeError, ValueError) as error:
            raise SpaceError(
                f"[space] {path}: entry {key} is not as in a cache: {error!r}"
            ) from None
        yield config, runs, str(entry["time"]) if failed else ""


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in values or () if math.isfinite(float(v)) and float(v) > 0)
