"""Trials in the T4 schema, which other tuners' tools read, and this package's replay too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .database import StoredTrial, Study

SCHEMA_VERSION = "1.0.0"


def as_t4(study: Study, trials: Sequence[StoredTrial]) -> dict[str, Any]:
    """A T4 document: every trial with its raw times, in milliseconds.

    The runs of the baseline beside each candidate are under ``baseline_runtimes``, which T4 does
    not have: without them a time says little.
    """
    return {
        "metadata": {**study.identity, "study": study.key},
        "schema_version": SCHEMA_VERSION,
        "results": [
            {
                "configuration": dict(trial.config),
                "invalidity": trial.invalidity,
                "correctness": int(trial.invalidity == "correct"),
                "times": {
                    "runtimes": [1e3 * seconds for seconds in trial.candidate],
                    "baseline_runtimes": [1e3 * seconds for seconds in trial.baseline],
                },
                "measurements": [{"name": "ratio", "value": trial.ratio, "unit": ""}]
                if trial.ratio is not None
                else [],
                "objectives": ["ratio"],
            }
            for trial in trials
        ],
    }
