"""Measurement: paired races of a baseline and a candidate, and the claims they support."""

from __future__ import annotations

from .calibration import Calibration, calibrate
from .claim import Claim, Verdict, claim
from .interval import Interval, bootstrap
from .race import Race, RaceSettings, race
from .warmup import warm_up

__all__ = [
    "Calibration",
    "Claim",
    "Interval",
    "Race",
    "RaceSettings",
    "Verdict",
    "bootstrap",
    "calibrate",
    "claim",
    "race",
    "warm_up",
]
