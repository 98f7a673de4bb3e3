"""Cost of one eager call: 20 operators at 1 and 1000 elements, compared with torch's CPU.

Two figures per operator: the native path, and the zero-copy fallback (with the native path
disabled). Times are thread CPU time of one Python call without gradients, on one thread; the median
over repetitions that alternate with the CPU's in the same run.

    python benchmarks/dispatch.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

Call = Callable[[], object]
SIZES = (1, 1000)
CALLS = 400


def operators(n: int, device: str) -> dict[str, Call]:
    """Return the 20 operators on tensors of ``n`` float32 elements."""
    generator = torch.Generator().manual_seed(0)

    def tensor(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator).add_(0.5).to(device)

    a, b, out = tensor(n), tensor(n), tensor(n)
    rows = tensor(max(n // 25, 1), min(n, 25))
    weight = torch.ones(rows.shape[1], device=device)
    side = max(int(n**0.5), 1)
    left, right = tensor(side, side), tensor(side, side)
    mask = a > 1
    functional = torch.nn.functional
    return {
        "add": lambda: a + b,
        "add_out": lambda: torch.add(a, b, out=out),
        "add_": lambda: out.add_(b),
        "add_scalar": lambda: a + 1.5,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "mul_scalar": lambda: a * 2.0,
        "div": lambda: a / b,
        "neg": lambda: -a,
        "exp": lambda: torch.exp(a),
        "rsqrt": lambda: torch.rsqrt(a),
        "tanh": lambda: torch.tanh(a),
        "relu": lambda: torch.relu(a),
        "gelu": lambda: functional.gelu(a),
        "gt": lambda: a > b,
        "where": lambda: torch.where(mask, a, b),
        "sum": lambda: rows.sum(-1),
        "softmax": lambda: torch.softmax(rows, -1),
        "layer_norm": lambda: functional.layer_norm(rows, (rows.shape[1],), weight, weight),
        "mm": lambda: torch.mm(left, right),
    }


def nanoseconds(call: Call) -> float:
    """Return the thread CPU time of one call, averaged over a short burst."""
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return (time.thread_time_ns() - start) / CALLS


def measure(repeats: int) -> list[dict[str, object]]:
    """Return one row per operator and size."""
    from dl_core import _C

    native = _C.native_operators(0)
    rows: list[dict[str, object]] = []
    for n in SIZES:
        host, device = operators(n, "cpu"), operators(n, "dl")
        for name in host:
            times: dict[str, list[float]] = {"cpu": [], "native": [], "fallback": []}
            for _ in range(repeats):
                times["cpu"].append(nanoseconds(host[name]))
                times["native"].append(nanoseconds(device[name]))
                _C.disable_native(native)
                times["fallback"].append(nanoseconds(device[name]))
                _C.disable_native([])
            median = {key: statistics.median(values) for key, values in times.items()}
            _C.reset_fallback_stats()
            device[name]()
            rows.append(
                {
                    "operator": name,
                    "elements": n,
                    "cpu_ns": median["cpu"],
                    "native_ns": median["native"],
                    "fallback_ns": median["fallback"],
                    "native_ratio": median["native"] / median["cpu"],
                    "fallback_ratio": median["fallback"] / median["cpu"],
                    "ran_natively": not _C.fallback_stats(),
                }
            )
    return rows


def summary(rows: list[dict[str, object]]) -> dict[str, float]:
    """Return medians over all rows; the native one excludes rows that did not run natively."""
    native = [float(str(row["native_ratio"])) for row in rows if row["ran_natively"]]
    fallback = [float(str(row["fallback_ratio"])) for row in rows]
    return {
        "native_median_ratio": statistics.median(native),
        "native_rows": len(native),
        "fallback_median_ratio": statistics.median(fallback),
        "rows": len(rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/dispatch.json"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    rows = measure(arguments.repeats)
    print("operator     elements   cpu ns native ns  ratio fallback ns  ratio")
    for row in rows:
        note = "" if row["ran_natively"] else "  (not native)"
        print(
            f"{row['operator']:12} {row['elements']:8} {row['cpu_ns']:8.0f} "
            f"{row['native_ns']:9.0f} {row['native_ratio']:6.2f} "
            f"{row['fallback_ns']:11.0f} {row['fallback_ratio']:6.2f}{note}"
        )
    total = summary(rows)
    print(
        f"median ratio to torch CPU: native {total['native_median_ratio']:.2f} "
        f"({total['native_rows']} rows), zero-copy fallback "
        f"{total['fallback_median_ratio']:.2f} ({total['rows']} rows)"
    )
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "threads": 1, "rows": rows, "summary": total}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
