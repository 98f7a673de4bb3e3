"""Cost of a call in a contract graph, compared with the same call through torch and Python.

A graph of 256 calls that each write one small tensor runs on vendor-cpu in the C executor; the same
calls are made eagerly on device "dl" (functional and with out=) and through diopi_proto's host in
Python. With 0 elements the operator returns immediately, so that the figure is the caller's
overhead except for a few nanoseconds. Times are thread CPU time of one call, on one thread; the
median over repetitions that alternate in the same run. "entry" is the cost of running a graph of a
single call.

    python benchmarks/graph.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from diopi_proto import Vendor, load_vendor
from dl_graph import BoundRun, GraphBuilder, Session
from dl_vendor_cpu.plugin import dl_vendor

Call = Callable[[], object]
CALLS = 256
SIZES = (0, 1, 1000)
OPERATORS: dict[str, tuple[tuple[object, ...], Callable[..., object], Callable[..., object]]] = {
    "Add": ((1,), lambda a, b: a + b, lambda a, b, out: torch.add(a, b, out=out)),
    "Mul": ((), lambda a, b: a * b, lambda a, b, out: torch.mul(a, b, out=out)),
}


def bound_run(vendor: Vendor, name: str, elements: int, calls: int) -> BoundRun:
    """Return a bound graph of calls that depend only on its inputs, so that each can run alone."""
    graph = GraphBuilder()
    entry = graph.entry("run")
    a, b = (entry.input(x, [elements], "float32") for x in "ab")
    out = entry.empty([elements])
    for _ in range(calls):
        entry.call(name, out, a, b, *OPERATORS[name][0])
    entry.output("out", out)
    array = np.ones(elements, np.float32)
    return Session(graph.build(), vendor).bind("run", {"a": array, "b": array})


def nanoseconds(call: Call, calls: int, times: int) -> float:
    """Return the thread CPU time of one of the calls that `call` makes."""
    start = time.thread_time_ns()
    for _ in range(times):
        call()
    return (time.thread_time_ns() - start) / (calls * times)


def measure(vendor: Vendor, name: str, elements: int, repeats: int) -> dict[str, object]:
    """Return one row: medians, and ratios to eager calls."""
    graph, entry = (bound_run(vendor, name, elements, n) for n in (CALLS, 1))
    x, y, z = (vendor.tensor(np.ones(elements, np.float32)) for _ in range(3))
    bound = vendor.op[f"diopi{name}"]
    more, eager, eager_out = OPERATORS[name]
    a, b, out = (torch.ones(elements, device="dl") for _ in range(3))
    ways: dict[str, tuple[Call, int, int]] = {
        "graph": (graph.run, CALLS, 20),
        "entry": (entry.run, 1, 500),
        "eager": (lambda: eager(a, b), 1, 2000),
        "eager_out": (lambda: eager_out(a, b, out), 1, 2000),
        "python_host": (lambda: bound(z, x, y, *more), 1, 200),
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, (call, calls, times) in ways.items():
            found[way].append(nanoseconds(call, calls, times))
    median = {f"{way}_ns": statistics.median(values) for way, values in found.items()}
    return {
        "operator": name,
        "elements": elements,
        **median,
        "graph_to_eager": median["graph_ns"] / median["eager_ns"],
        "graph_to_eager_out": median["graph_ns"] / median["eager_out_ns"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/graph.json"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    rows = []
    columns = ("graph", "entry", "eager", "eager_out", "python_host")
    print("ns a call       " + "".join(f"{column:>12}" for column in columns) + "  graph/eager")
    with load_vendor(dl_vendor().library) as vendor:
        for name in OPERATORS:
            for elements in SIZES:
                row = measure(vendor, name, elements, arguments.repeats)
                rows.append(row)
                figures = "".join(f"{row[f'{column}_ns']:12.0f}" for column in columns)
                print(f"{name:8}{elements:8}{figures}{row['graph_to_eager']:13.3f}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "threads": 1, "calls": CALLS, "rows": rows}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
