"""Export of trials in the T4 schema, which other tuners' tools and this package's replay read."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from .database import StoredTrial, Study

SCHEMA_VERSION = "1.0.0"


def as_t4(study: Study, trials: Sequence[StoredTrial]) -> dict[str, Any]:
    """Return a T4 document: the default configuration and every trial, in milliseconds.

    The runs of the default were measured in the candidates' races. Each candidate has the runs
    of its race under ``baseline_runtimes``, which T4 does not define.
    """
    results = [_result(trial) for trial in trials]
    default = study.identity.get("default")
    runs = tuple(seconds for trial in trials for seconds in trial.baseline)
    if default is not None and runs and all(dict(trial.config) != default for trial in trials):
        results.insert(0, _result(StoredTrial(default, "correct", ratio=1.0, candidate=runs)))
    return {
        "metadata": {**study.identity, "study": study.key, "timeunit": "milliseconds"},
        "schema_version": SCHEMA_VERSION,
        "results": results,
    }


def _result(trial: StoredTrial) -> dict[str, Any]:
    milliseconds = [1e3 * seconds for seconds in trial.candidate]
    measurements = []
    if milliseconds:
        time = statistics.fmean(milliseconds)
        measurements.append({"name": "time", "value": time, "unit": "milliseconds"})
    if trial.ratio is not None:
        measurements.append({"name": "ratio", "value": trial.ratio, "unit": ""})
    return {
        "configuration": dict(trial.config),
        "invalidity": trial.invalidity,
        "correctness": int(trial.invalidity == "correct"),
        "times": {
            "runtimes": milliseconds,
            "baseline_runtimes": [1e3 * seconds for seconds in trial.baseline],
        },
        "measurements": measurements,
        "objectives": ["ratio"],
    }
