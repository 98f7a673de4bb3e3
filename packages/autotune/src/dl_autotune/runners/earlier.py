"""Earlier studies of the same kernel: their selection, and the prior of a new search."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DatabaseError
from ..spaces import Config, SearchSpace
from ..strategies import Known, Prior
from .database import Database, StoredTransfer, Study

_log = logging.getLogger("dl_autotune")
_MOST = 3
"""Maximum number of studies from which a search learns."""
_EXAMINED = 30
"""Maximum number of studies whose trials are read, the most similar ones."""

Layers = Sequence[tuple[str, Database]]
"""Databases by the name of their layer, in order of precedence."""


@dataclass(frozen=True)
class Transfer:
    """Prior of a search, and what it consists of."""

    prior: Prior
    sources: tuple[StoredTransfer, ...]


def find_transfer(
    study: Study, space: SearchSpace, default: Config, layers: Layers, seed: int
) -> Transfer | None:
    """Return what a new study can take from earlier ones; None if there is no earlier study.

    Earlier studies are of the same function in a kernel of the same name, on another device, shape
    or release, or of another version of the source. Simulated devices and real ones have nothing
    in common.
    """
    chosen: list[tuple[str, Study, Known]] = []
    for layer, database, earlier in _candidates(study, layers)[:_EXAMINED]:
        try:
            trials = database.trials(earlier)
        except DatabaseError as error:
            _log.warning("earlier study %s is left out: %s", earlier.key, error)
            continue
        speeds = [(trial.config, trial.ratio) for trial in trials]
        known = Known.of(space, speeds, default)
        if known is not None:
            chosen.append((layer, earlier, known))
        if len(chosen) == _MOST:
            break
    if not chosen:
        return None
    prior = Prior(space, [known for _, _, known in chosen], seed)
    sources = []
    taken: set[int] = set()
    for layer, earlier, known in chosen:
        points = [p for p in prior.points if p in known.points and p not in taken]
        taken.update(points)
        configs = tuple(map(space.config, points))
        counts = len(known.points), known.outside
        sources.append(StoredTransfer(earlier.key, layer, earlier.identity, configs, *counts))
    return Transfer(prior, tuple(sources))


def _candidates(study: Study, layers: Layers) -> list[tuple[str, Database, Study]]:
    """Return the earlier studies of all layers, the most similar first; each once."""
    found: dict[str, tuple[str, Database, Study]] = {}
    for layer, database in layers:
        try:
            studies = database.studies()
        except DatabaseError as error:
            _log.warning("layer %r has no earlier studies: %s", layer, error)
            continue
        for each in studies:
            if each.key != study.key and _is_related(study, each):
                found.setdefault(each.key, (layer, database, each))
    return sorted(found.values(), key=lambda entry: _distance(study.identity, entry[2].identity))


def _is_related(study: Study, other: Study) -> bool:
    ours, theirs = study.identity, other.identity
    same = all(ours.get(name) == theirs.get(name) for name in ("kernel", "function"))
    return same and ours.get("kernel") != "operator" and study.simulated == other.simulated


def _distance(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[bool, bool, float, bool]:
    """Return a key by which similar studies sort first."""
    return (
        ours.get("source") != theirs.get("source"),
        ours.get("device") != theirs.get("device"),
        shape_distance(ours.get("shape", {}), theirs.get("shape", {})),
        ours.get("caches") != theirs.get("caches"),
    )


def shape_distance(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """Return the sum of the logarithmic distances of sizes; infinite for other dimensions."""
    if ours.keys() != theirs.keys():
        return math.inf
    total = 0.0
    for name, size in ours.items():
        sizes = size, theirs[name]
        if not all(isinstance(each, int) and 0 <= each < 1 << 63 for each in sizes):
            return math.inf
        total += abs(math.log((1 + sizes[0]) / (1 + sizes[1])))
    return total
