"""Speed of the kernels: operators of all families at three sizes, compared with torch's CPU.

Both sides alternate in one process, and each row has the ratio of their medians: above 1, dl is
slower. The sizes are a small tensor, for which the overhead of a call is as large as the work, one
that fits the caches, and one that does not. With one thread, times are CPU time of the process, so
that other load on the machine matters less.

    python benchmarks/kernels.py [--json FILE] [--repeats N] [--threads N ...] [--only NAME]

Recorded rows that are slower than 1.1 need a cause in benchmarks/slow_rows.toml.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from _kernel_inputs import Call, Inputs, Make
from _kernel_rows import chosen, geometric_mean, measured, slowest

SIZES = {"small": 1 << 12, "cached": 1 << 17, "large": 1 << 21}
DTYPES = (torch.float32, torch.bfloat16)
BURST_SECONDS = 0.004
"""Seconds of a burst, so that the clock's resolution and the loop's cost do not matter."""


def burst_length(call: Call) -> int:
    """Return how often to repeat the call in a burst."""
    call()
    return max(1, min(2000, int(BURST_SECONDS / max(seconds(call, 1), 1e-7))))


def seconds(call: Call, times: int) -> float:
    """Return the time of one call: CPU time of the process; wall time with several threads."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


def measure_one(make: Make, n: int, dtype: torch.dtype, repeats: int) -> dict[str, Any]:
    """Return the medians of both sides, measured alternately, and whether dl ran natively."""
    from dl_core import _C

    host, device = make(Inputs(n, dtype, "cpu")), make(Inputs(n, dtype, "dl"))
    times = burst_length(host)
    device()
    _C.reset_fallback_stats()
    device()
    native = not _C.fallback_stats()
    taken: dict[str, list[float]] = {"cpu": [], "dl": []}
    for repeat in range(repeats):
        # The order alternates, because the second side has warmer caches and a hotter processor.
        for side in ("cpu", "dl") if repeat % 2 else ("dl", "cpu"):
            taken[side].append(seconds(host if side == "cpu" else device, times))
    cpu, dl = (statistics.median(taken[side]) for side in ("cpu", "dl"))
    return {"cpu_us": cpu * 1e6, "dl_us": dl * 1e6, "ratio": dl / cpu, "native": native}


def measure(repeats: int, threads: int, only: str) -> list[dict[str, Any]]:
    """Return one row per operator, dtype and size."""
    torch.set_num_threads(threads)
    rows = []
    for head, make, dtype in chosen(only, DTYPES):
        for size, n in SIZES.items():
            row = head | {"size": size, "elements": n, "threads": threads}
            row |= measured(partial(measure_one, make, n, dtype, repeats))
            rows.append(row)
            show(row)
    return rows


def show(row: dict[str, Any]) -> None:
    head = f"{row['operator']:20} {row['dtype']:9} {row['size']:7} {row['threads']:2}"
    if row["ratio"] is None:
        print(f"{head}  {row['error']}", flush=True)
        return
    note = "" if row["native"] else "  (not native)"
    figures = f"{row['cpu_us']:11.1f} {row['dl_us']:11.1f} {row['ratio']:6.2f}"
    print(f"{head} {figures}{note}", flush=True)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return geometric means over native rows by dtype and threads, and the slow rows."""
    measured = [row for row in rows if row["ratio"] is not None]
    native = [row for row in measured if row["native"]]
    groups = sorted({(row["dtype"], row["threads"]) for row in native})
    return {
        "rows": len(rows),
        "native_rows": len(native),
        "geometric_mean": geometric_mean([row["ratio"] for row in native]),
        "by_group": [
            {
                "dtype": dtype,
                "threads": threads,
                "geometric_mean": geometric_mean(
                    [r["ratio"] for r in native if (r["dtype"], r["threads"]) == (dtype, threads)]
                ),
            }
            for dtype, threads in groups
        ],
        "by_family": {
            family: geometric_mean([r["ratio"] for r in native if r["family"] == family])
            for family in sorted({r["family"] for r in native})
        },
        "slowest": slowest(rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/kernels.json"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--only", default="", help="a family, or operators whose name contains this text"
    )
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    print("operator             dtype     size    threads    cpu us       dl us  ratio")
    rows = [
        row
        for threads in arguments.threads
        for row in measure(arguments.repeats, threads, arguments.only)
    ]
    total = summary(rows)
    print(f"\nslowest {len(total['slowest'])} rows")
    for row in total["slowest"]:
        show(row)
    print("\ngeometric means of families")
    for family, mean in sorted(total["by_family"].items(), key=lambda item: -item[1]):
        print(f"{family:24} {mean:6.2f}")
    for group in total["by_group"]:
        print(
            f"geometric mean, {group['dtype']}, {group['threads']} thread(s): "
            f"{group['geometric_mean']:.3f}"
        )
    if total["geometric_mean"] is not None:
        print(
            f"geometric mean of {total['native_rows']} native rows: {total['geometric_mean']:.3f}"
        )
    print(f"{total['rows'] - total['native_rows']} of {total['rows']} rows were not native")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "rows": rows, "summary": total}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
