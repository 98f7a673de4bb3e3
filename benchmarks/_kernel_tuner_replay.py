"""Kernel Tuner's strategies over a recorded space, by its own simulation of a complete cache."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from dl_autotune.spaces.recorded import Recording

# Some of its strategies do not return.
_SECONDS = 400
_CHILD = """
import contextlib, io, json, random, sys
import numpy
from kernel_tuner.interface import tune_cache
cache, strategy, evaluations, seeds, names = sys.argv[1:]
for seed in range(int(seeds)):
    random.seed(seed)
    numpy.random.seed(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = tune_cache(
            cache, strategy=strategy, quiet=True, seed=seed,
            strategy_options=dict(max_fevals=int(evaluations)),
        )
    print(json.dumps([[r[n] for n in names.split(",")] for r in results]), flush=True)
"""


def run_kernel_tuner(
    recording: Recording, strategy: str, evaluations: int, seeds: int
) -> list[list[int]]:
    """The points that a strategy evaluates, for each seed that it returned for in time."""
    names = list(recording.space.names)
    with TemporaryDirectory() as folder:
        cache = Path(folder) / "cache.json"
        cache.write_text(json.dumps(_cache_of(recording)))
        command = [sys.executable, "-W", "ignore", "-c", _CHILD, str(cache), strategy]
        command += [str(evaluations), str(seeds), ",".join(names)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
            lines, problem = done.stdout.splitlines(), done.stderr.strip().rpartition("\n")[2]
        except subprocess.TimeoutExpired as error:
            output = error.stdout or b""
            text = output.decode() if isinstance(output, bytes) else output
            lines, problem = text.splitlines(), f"no end after {_SECONDS} s"
    if len(lines) < seeds:
        print(f"kernel_tuner {strategy} on {recording.name}: {len(lines)} of {seeds}: {problem}")
    found = []
    for line in lines:
        configs = [dict(zip(names, values, strict=True)) for values in json.loads(line)]
        found.append(recording.space.points_of(configs))
    return found


def _cache_of(recording: Recording) -> dict[str, object]:
    entries = {}
    for config, time, runs in zip(
        recording.space.configs(), recording.milliseconds, recording.runs, strict=True
    ):
        failed = math.isnan(time)
        entry: dict[str, object] = {
            **config,
            "time": "RuntimeFailedConfig" if failed else float(time),
            "times": list(runs[:1]),
        }
        for name in ("compile_time", "verification_time", "benchmark_time", "strategy_time"):
            entry[name] = 0
        entry["framework_time"] = 0
        if failed:
            entry["__error__"] = "RuntimeFailedConfig"
        entries[",".join(map(str, config.values()))] = entry
    return {
        "device_name": "recorded",
        "kernel_name": recording.name,
        "problem_size": [1],
        "tune_params_keys": list(recording.space.names),
        "tune_params": {p.name: list(p.values) for p in recording.space.parameters},
        "objective": "time",
        "cache": entries,
    }
