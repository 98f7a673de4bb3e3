"""Overhead of torch.profiler for a call on dl, compared with a call on torch's CPU.

Common operators at 64 elements, eager, without gradients, on one thread. The overhead is the time
of a call while a profile records (activities CPU, and PrivateUse1 for dl) minus the time of a call
without a profile; the median over repetitions that alternate between both devices. It does not
include the end of a profile.

    python benchmarks/profiler.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

CALLS = 2000
ACTIVITIES = {
    "cpu": [ProfilerActivity.CPU],
    "dl": [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
}


def operators(device: str) -> dict[str, Callable[[], object]]:
    a, b = torch.rand(8, 8).to(device), torch.rand(8, 8).to(device)
    return {
        "add": lambda: a + b,
        "mul": lambda: a * 2.0,
        "exp": lambda: a.exp(),
        "relu": lambda: a.relu(),
        "sum": lambda: a.sum(-1),
        "mm": lambda: a @ b,
    }


def nanoseconds(call: Callable[[], object]) -> float:
    """Return the thread CPU time of one call, averaged over a burst."""
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return (time.thread_time_ns() - start) / CALLS


def overhead(call: Callable[[], object], device: str) -> tuple[float, float]:
    """Return the nanoseconds of a call without a profile, and the nanoseconds that it adds."""
    plain = nanoseconds(call)
    with profile(activities=ACTIVITIES[device]):
        recorded = nanoseconds(call)
    return plain, recorded - plain


def measure(repeats: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    calls = {device: operators(device) for device in ACTIVITIES}
    for name in calls["cpu"]:
        found: dict[str, list[tuple[float, float]]] = {device: [] for device in ACTIVITIES}
        for _ in range(repeats):
            for device, times in found.items():
                times.append(overhead(calls[device][name], device))
        plain = {key: statistics.median(x for x, _ in times) for key, times in found.items()}
        added = {key: statistics.median(x for _, x in times) for key, times in found.items()}
        rows.append(
            {
                "operator": name,
                "cpu_ns": plain["cpu"],
                "dl_ns": plain["dl"],
                "cpu_overhead_ns": added["cpu"],
                "dl_overhead_ns": added["dl"],
                "ratio": added["dl"] / added["cpu"],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/profiler.json"))
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    rows = measure(arguments.repeats)
    print("operator   cpu ns    dl ns  cpu overhead  dl overhead  ratio")
    for row in rows:
        print(
            f"{row['operator']:8} {row['cpu_ns']:8.0f} {row['dl_ns']:8.0f} "
            f"{row['cpu_overhead_ns']:13.0f} {row['dl_overhead_ns']:12.0f} {row['ratio']:6.2f}"
        )
    ratio = statistics.median(float(str(row["ratio"])) for row in rows)
    print(f"median ratio of the overheads: {ratio:.2f}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "threads": 1, "rows": rows, "median_ratio": ratio}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
