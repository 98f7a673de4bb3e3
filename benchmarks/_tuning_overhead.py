"""Evaluations per minute of our tuner and Kernel Tuner: one C++ kernel, same configurations.

Both compile the same text with the same compiler, each with its own options, cache nothing, compare
the results of each configuration with the same product, and time it seven times. Rounds alternate,
so that other load slows both. Ours checks more shapes, times the default together with each
candidate, and the start of its processes counts; the import of Kernel Tuner does not.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[1] / "examples" / "tune_gemm"
SIZE = 128
REPEATS = 7
DEFAULT = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 32, "ROWS": 4, "LANES": 8}
OPTIONS = ["-std=c++17", "-O3", "-march=native"]
_SECONDS = 300
_HEAD = """
#include <chrono>
#include <cstdint>
struct Block { uint32_t index[3]; };
template <class T> T dl_cpu_argument(const void* const* arguments, int at) {
  return *static_cast<const T*>(arguments[at]);
}
#define DL_CPU_KERNEL(name) static void one_block(const Block* block, const void* const* arguments)
"""
_TAIL = """
extern "C" float gemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  const void* arguments[] = {&a, &b, &c, &m, &n, &k};
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t y = 0; y < (m + TILE_M - 1) / TILE_M; ++y)
    for (uint32_t x = 0; x < (n + TILE_N - 1) / TILE_N; ++x) {
      const Block block = {{x, y, 0}};
      one_block(&block, arguments);
    }
  const std::chrono::duration<float, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}
"""
_KERNEL_TUNER = """
import contextlib, io, json, sys, time
import numpy as np
from kernel_tuner import tune_kernel
source, configs, size, options, repeats = json.load(sys.stdin)
names = list(configs[0])
wanted = {tuple(config.values()) for config in configs}
rng = np.random.default_rng(0)
a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
c, sizes = np.zeros((size, size), np.float32), [np.int64(size)] * 3
answer = [None, None, a @ b, None, None, None]
start = time.perf_counter()
with contextlib.redirect_stdout(io.StringIO()):
    results, _ = tune_kernel(
        "gemm", source, size, [a, b, c, *sizes],
        {name: sorted({config[name] for config in configs}) for name in names},
        restrictions=lambda p: tuple(p[name] for name in names) in wanted,
        answer=answer, atol=1e-3, lang="C", compiler="c++", compiler_options=options,
        iterations=repeats, quiet=True,
    )
seconds = time.perf_counter() - start
right = sum(isinstance(result["time"], float) for result in results)
print(json.dumps([len(results), right, seconds]))
"""
_OURS = """
import runpy
from dataclasses import replace
from pathlib import Path
from dl_autotune import SearchSpace
here = Path(__file__).parent
kernel = runpy.run_path(str(here / "gemm.py"))["kernel"]
kernel = replace(kernel, space=SearchSpace.of_configs({configs}), shape={shape})
"""


def kernel_tuner(configs: list[dict[str, Any]]) -> float:
    """Return the evaluations per minute of Kernel Tuner."""
    lines = (EXAMPLE / "gemm.cpp").read_text().splitlines()
    # Kernel Tuner defines the parameters as macros.
    kept = [line for line in lines if not line.endswith("// tunable") and "#include" not in line]
    source = _HEAD + "\n".join(kept) + _TAIL
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _KERNEL_TUNER],
        input=json.dumps([source, configs, SIZE, OPTIONS, REPEATS]),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"Kernel Tuner failed: {done.stderr[-2000:]}")
    count, right, seconds = json.loads(done.stdout.splitlines()[-1])
    if right != len(configs):
        raise RuntimeError(f"Kernel Tuner had {right} right of {count}, not {len(configs)}")
    return 60 * float(right) / float(seconds)


def ours(configs: list[dict[str, Any]]) -> float:
    """Return the evaluations per minute of our tuner, until the last candidate is measured."""
    from dl_autotune.observers import RaceSettings
    from dl_autotune.runners.database import Database, StoredTrial
    from dl_autotune.runners.kernel_worker import Target
    from dl_autotune.runners.tuner import Plan, Tuner
    from dl_autotune.strategies import Budget

    ended: list[float] = []
    right: list[bool] = []

    def progress(trial: StoredTrial, count: int) -> None:
        ended.append(time.perf_counter())
        right.append(trial.ratio is not None)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("gemm.py", "gemm.cpp"):
            shutil.copy(EXAMPLE / file, folder)
        shape = dict.fromkeys("mnk", SIZE)
        description = folder / "kernel.py"
        description.write_text(_OURS.format(configs=[DEFAULT, *configs], shape=shape))
        database = Database(folder / "trials.sqlite")
        plan = Plan(
            Budget(len(configs)),
            "exhaustive",
            search_races=RaceSettings(looks=(REPEATS,), repeats=1),
            final_races=RaceSettings(looks=(2,), repeats=1),
            final_processes=2,
        )
        tuner = Tuner(Target(description, "cpu"), database, plan, progress)
        start = time.perf_counter()
        tuner.run()
        database.close()
    if right.count(True) != len(configs):
        raise RuntimeError(f"ours had {right.count(True)} right of {len(configs)}")
    return 60 * len(configs) / (ended[-1] - start)


def compare(rounds: int, count: int) -> list[tuple[float, float]]:
    """Return the evaluations per minute of both tuners, for rounds with `count` configurations."""
    import runpy

    # Disable the caches, so that no earlier build is reused.
    os.environ |= {"DL_CPU_KERNEL_CACHE": "off", "CCACHE_DISABLE": "1"}
    space = runpy.run_path(str(EXAMPLE / "gemm.py"))["space"]
    found = []
    for number in range(rounds):
        points = space.sample(count + 1, seed=number)
        configs = [c for c in map(space.config, points) if c != DEFAULT][:count]
        sides = [ours, kernel_tuner]
        random.Random(number).shuffle(sides)
        rates = {side: side(configs) for side in sides}
        found.append((rates[ours], rates[kernel_tuner]))
        print(
            f"{number}: ours {rates[ours]:.1f}, Kernel Tuner {rates[kernel_tuner]:.1f}", flush=True
        )
    return found
