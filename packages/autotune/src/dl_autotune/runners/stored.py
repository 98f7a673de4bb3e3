"""Rows of the database: trials, claims, choices and studies, and their checks.

A row may be damaged or forged. An object is created from a row only if every field has a valid type
and size, so that users of the object need no further checks.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dl_core.simulation import is_marked
from dl_core.tuned_choices import LONGEST_CHOICE, LONGEST_KEY

from ..observers.claim import Verdict
from ..spaces import Config

_LONGEST = 1 << 20
"""Maximum characters of a field."""
_MOST = 10_000
"""Maximum number of parameters of a configuration, or of times of a list."""


class DamagedRowError(ValueError):
    """A row is damaged and skipped; the message has the reason."""


@dataclass(frozen=True)
class StoredTrial:
    """One evaluation.

    :ivar invalidity: "correct", or the reason why it was not timed, as in T4.
    :ivar ratio: baseline time divided by candidate time, with its interval; None if not timed.
    :ivar baseline: seconds of the baseline's runs in the same race.
    :ivar candidate: seconds of the candidate's runs.
    """

    config: Config
    invalidity: str
    message: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    baseline: tuple[float, ...] = ()
    candidate: tuple[float, ...] = ()


@dataclass(frozen=True)
class StoredClaim:
    """Claim at the end of a study; `races` has the ratios of blocks, race by race."""

    config: Config
    verdict: str
    ratio: float
    low: float
    high: float
    noise: float
    races: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class StoredChoice:
    """Implementation that is faster than a vendor's default for a call.

    :ivar identity: vendor's identity of vendor, libraries and device.
    :ivar key: vendor's key of the call.
    :ivar operator: description of the call for users.
    :ivar ratio: time of the default divided by the time of this choice, with its interval.
    """

    identity: str
    key: str
    choice: str
    operator: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class StoredTransfer:
    """Points and predictions that a study took from an earlier study of the same kernel.

    :ivar source: key of the earlier study.
    :ivar layer: name of the database that has it.
    :ivar identity: identity of the earlier study.
    :ivar configs: its configurations with which the search started, in this study's parameters.
    :ivar trials: number of its trials from which predictions were learned.
    :ivar outside: number of its trials whose configurations this study's space does not have.
    """

    source: str
    layer: str
    identity: Mapping[str, Any]
    configs: tuple[Config, ...]
    trials: int
    outside: int


@dataclass(frozen=True)
class Study:
    """Set of comparable trials: of one kernel, shape, device and compiler."""

    id: int
    key: str
    identity: Mapping[str, Any]
    created: str

    @property
    def simulated(self) -> bool:
        """True if the trials were measured on a simulated device."""
        return is_marked(str(self.identity.get("device", "")))


def study_of(row: Sequence[Any]) -> Study:
    """Return the study of a row ``id, key, identity, created``.

    :raises DamagedRowError: it is damaged.
    """
    number, key, identity, created = row
    return Study(
        number, _text("key", key, 100), _identity(identity), _text("created", created, 100)
    )


def trial_of(row: Sequence[Any]) -> StoredTrial:
    """Return the trial of a row ``config, invalidity, message, ratio, low, high, baseline,
    candidate``.

    :raises DamagedRowError: it is damaged.
    """
    config, invalidity, message, *interval, baseline, candidate = row
    timed = interval != [None, None, None]
    ratio, low, high = _interval(interval) if timed else (None, None, None)
    return StoredTrial(
        _config(config),
        _text("invalidity", invalidity, 1000),
        _text("message", message),
        ratio,
        low,
        high,
        _numbers("baseline", _json("baseline", baseline)),
        _numbers("candidate", _json("candidate", candidate)),
    )


def alike(trials: Sequence[StoredTrial]) -> tuple[list[StoredTrial], int]:
    """Return the trials with the most frequent set of parameters, and the count of all others."""
    names = Counter(frozenset(trial.config) for trial in trials)
    usual = names.most_common(1)[0][0] if names else frozenset()
    kept = [trial for trial in trials if trial.config.keys() == usual]
    return kept, len(trials) - len(kept)


def claim_of(row: Sequence[Any]) -> StoredClaim:
    """Return the claim of a row ``config, verdict, ratio, low, high, noise, races``.

    :raises DamagedRowError: it is damaged.
    """
    config, verdict, *interval, noise, races = row
    if verdict not in {each.value for each in Verdict}:
        raise DamagedRowError(f"its verdict {str(verdict)[:100]!r} is unknown")
    if not isinstance(noise, int | float) or not 0 <= noise < math.inf:
        raise DamagedRowError("its noise is not a number >= 0")
    blocks = _json("races", races)
    if not isinstance(blocks, list) or len(blocks) > _MOST:
        raise DamagedRowError("its races are not a list")
    ratios = tuple(_numbers("races", each) for each in blocks)
    return StoredClaim(_config(config), verdict, *_interval(interval), noise, ratios)


def transfer_of(row: Sequence[Any]) -> StoredTransfer:
    """Return the transfer of a row ``source, layer, identity, configs, trials, outside``.

    :raises DamagedRowError: it is damaged.
    """
    source, layer, identity, configs, *counts = row
    found = _json("configurations", configs)
    if not isinstance(found, list) or len(found) > _MOST:
        raise DamagedRowError("its configurations are not a list")
    for name, count in zip(("trials", "outside"), counts, strict=True):
        if not isinstance(count, int) or count < 0:
            raise DamagedRowError(f"its {name} is not a count")
    return StoredTransfer(
        _text("source", source, 100),
        _text("layer", layer, 100),
        _identity(identity),
        tuple(_config(json.dumps(each)) for each in found),
        *counts,
    )


def choice_of(row: Sequence[Any]) -> StoredChoice:
    """Return the choice of a row ``identity, key, choice, operator, ratio, low, high``.

    :raises DamagedRowError: it is damaged.
    """
    identity, key, choice, operator, *interval = row
    return StoredChoice(
        _text("identity", identity),
        _text("key", key, LONGEST_KEY),
        _text("choice", choice, LONGEST_CHOICE),
        _text("operator", operator),
        *_interval(interval),
    )


def _text(name: str, value: object, longest: int = _LONGEST) -> str:
    if not isinstance(value, str):
        raise DamagedRowError(f"its {name} is not text")
    if len(value) > longest:
        raise DamagedRowError(
            f"its {name} has {len(value):,} characters; the maximum is {longest:,}"
        )
    return value


def _json(name: str, value: object) -> Any:
    try:
        return json.loads(_text(name, value))
    except DamagedRowError:
        raise
    except (ValueError, RecursionError):
        raise DamagedRowError(f"its {name} is not JSON") from None


def _object(name: str, value: object) -> dict[str, Any]:
    found = _json(name, value)
    if not isinstance(found, dict) or len(found) > _MOST:
        raise DamagedRowError(f"its {name} is not a JSON object, or is too large")
    return found


def _identity(value: object) -> dict[str, Any]:
    found = _object("identity", value)
    for name in ("shape", "default"):
        if not isinstance(found.get(name, {}), dict):
            raise DamagedRowError(f"its {name} is not an object")
    return found


def _config(value: object) -> Config:
    found = _object("configuration", value)
    if not all(isinstance(each, str | int | float) for each in found.values()):
        raise DamagedRowError("its configuration has values other than numbers and texts")
    return found


def _positive(name: str, value: object) -> float:
    if not isinstance(value, int | float) or not 0 < value < math.inf:
        raise DamagedRowError(f"its {name} is not a number above 0")
    return value


def _interval(values: Sequence[Any]) -> tuple[float, float, float]:
    """Return a ratio of times with its interval, which may be unbounded."""
    ratio, low, high = values
    for value in (low, high):
        if not isinstance(value, int | float) or not value >= 0:
            raise DamagedRowError("its interval is not two numbers >= 0")
    return _positive("ratio", ratio), low, high


def _numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, list) or len(values) > _MOST:
        raise DamagedRowError(f"its {name} is not a list of numbers")
    return tuple(_positive(name, value) for value in values)
