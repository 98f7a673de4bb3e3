"""Cost of backward() for three graphs of a few nodes, compared with torch's CPU.

Wall time of one call of backward(), without forward, with one kernel thread; the median over
repetitions that alternate with the CPU's in the same run. `device thread` is torch's default for
devices other than the CPU: its engine runs the nodes in a thread of the device.

    python benchmarks/backward.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

Forward = Callable[[], torch.Tensor]
CALLS = 200


def graphs(device: str) -> dict[str, Forward]:
    """Return the losses of a scalar product, a chain of 16 nodes, and a two-layer perceptron."""
    x = torch.full((4,), 0.5, device=device, requires_grad=True)
    rows = torch.full((2, 8), 0.25, device=device)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    layers.to(device)

    def chain() -> torch.Tensor:
        y = x
        for _ in range(16):
            y = y * 1.01
        return y.sum()

    return {
        "scalar product": lambda: (x * x).sum(),
        "chain of 16": chain,
        "perceptron": lambda: layers(rows).square().mean(),
    }


def microseconds(forward: Forward) -> float:
    """Return the wall time of one backward(), averaged over a short burst."""
    spent = 0
    for _ in range(CALLS):
        loss = forward()
        start = time.perf_counter_ns()
        loss.backward()
        spent += time.perf_counter_ns() - start
    return spent / CALLS / 1000


def measure(repeats: int) -> list[dict[str, object]]:
    """Return one row per graph."""
    rows: list[dict[str, object]] = []
    host, device = graphs("cpu"), graphs("dl")
    for name in host:
        for warm_up in (host[name], device[name]):
            microseconds(warm_up)
        times: dict[str, list[float]] = {"cpu": [], "dl": [], "thread": []}
        for _ in range(repeats):
            times["cpu"].append(microseconds(host[name]))
            times["dl"].append(microseconds(device[name]))
            with torch.autograd.set_multithreading_enabled(True):
                times["thread"].append(microseconds(device[name]))
        median = {key: statistics.median(values) for key, values in times.items()}
        rows.append(
            {
                "graph": name,
                "cpu_us": median["cpu"],
                "dl_us": median["dl"],
                "device_thread_us": median["thread"],
                "ratio": median["dl"] / median["cpu"],
                "device_thread_ratio": median["thread"] / median["cpu"],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/backward.json"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = measure(arguments.repeats)
    print("graph             cpu us    dl us  ratio  device thread us  ratio")
    for row in rows:
        print(
            f"{row['graph']:15} {row['cpu_us']:8.1f} {row['dl_us']:8.1f} {row['ratio']:6.2f} "
            f"{row['device_thread_us']:17.1f} {row['device_thread_ratio']:6.2f}"
        )
    median = statistics.median(float(str(row["ratio"])) for row in rows)
    print(f"median ratio to torch CPU: {median:.2f} ({len(rows)} graphs)")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "median_ratio": median, "rows": rows}
    arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
