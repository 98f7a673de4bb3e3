"""The graph compiler, compared with eager dl and with Inductor on the CPU.

Models have random weights. Each row of the table is one model, with the median time of a call; the
measured configurations alternate call by call. Times are processor times of all threads together,
because wall-clock time (``--clock``) includes other load of the machine. A ratio below 1 is in
favour of the compiler. For inference, ``--best-inductor`` also measures Inductor with frozen
parameters and a wrapper in C++, and with ``max-autotune``; the column ``best / best`` compares the
fastest configurations of both compilers. The last column compares the compiler's engine `inductor`,
which runs Inductor on dl tensors, with Inductor on CPU tensors.

    python benchmarks/dicp.py [--json FILE] [--repeats N] [--only NAME ...] [--threads N ...]
        [--dtypes NAME ...] [--best-inductor] [--no-inductor] [--clock]
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import exp, log
from pathlib import Path
from typing import Any

import torch
from _compiled_models import CASES, Case
from _in_turn import microseconds_in_turn
from torch import Tensor

from dl_dicp import statistics as counters
from dl_dicp.engines.codegen.racing import RUNS, wait_for_kernels

Run = Callable[[], Tensor]

BY_INDUCTOR = "engine inductor"
"""Name of the configuration that runs Inductor on dl tensors."""
BEST_OF_INDUCTOR: dict[str, dict[str, Any]] = {
    "Inductor, frozen": {"freezing": True, "cpp_wrapper": True},
    "Inductor, max-autotune": {"max_autotune": True, "freezing": True},
}
"""Options of Inductor by the name of the configuration."""


def runner(case: Case, run: Callable[..., Tensor], device: str, dtype: torch.dtype) -> Run:
    """Return the measured call, which returns the result or the loss."""
    given = tuple(x.to(device) for x in case.inputs())

    def precision() -> AbstractContextManager[Any]:
        return torch.autocast(device, dtype, enabled=dtype != torch.float32)

    def infer() -> Tensor:
        with torch.no_grad(), precision():
            return run(*given)

    def train() -> Tensor:
        with precision():
            loss = run(*given).float().square().mean()
        loss.backward()
        return loss.detach()

    return train if case.trains else infer


def ways(case: Case, dtype: torch.dtype, arguments: argparse.Namespace) -> dict[str, Run]:
    """Return a model's calls by configuration, each with its own copy of the weights."""
    torch.manual_seed(0)
    model = case.make().train(case.trains)

    def on(device: str, backend: str | None, **options: Any) -> Run:
        own = copy.deepcopy(model).to(device)
        run = own if backend is None else torch.compile(own, backend=backend, options=options)
        torch.manual_seed(1)
        made = runner(case, run, device, dtype)

        def train() -> Tensor:
            own.zero_grad()
            return made()

        return train if case.trains else made

    made = {
        "eager dl": on("dl", None),
        "dl-dicp": on("dl", "dl"),
        "codegen": on("dl", "dl", engine="codegen"),
        "eager CPU": on("cpu", None),
    }
    if not case.trains:
        made["frozen"] = on("dl", "dl", frozen=True)
    if not arguments.no_inductor:
        made[BY_INDUCTOR] = on("dl", "dl", engine="inductor")
        made["Inductor"] = on("cpu", "inductor")
        if arguments.best_inductor and not case.trains:
            for way, options in BEST_OF_INDUCTOR.items():
                made[way] = on("cpu", "inductor", **options)
    return made


def measure(name: str, dtype: torch.dtype, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the medians of one model, in microseconds."""
    torch._dynamo.reset()
    counters.reset()
    runs = ways(CASES[name], dtype, arguments)
    first: dict[str, float] = {}
    results: dict[str, Tensor] = {}
    for way, run in runs.items():
        start = time.process_time()
        run()
        results[way] = run().cpu()
        first[way] = time.process_time() - start
        run()
        if way == "codegen":
            wait_for_kernels()
            for _ in range(2 * RUNS + 2):  # candidates are checked and raced in the first calls
                run()
    worst = max(float((r - results["eager CPU"]).abs().max()) for r in results.values())
    clock = time.perf_counter_ns if arguments.clock else time.process_time_ns
    medians = microseconds_in_turn(runs, arguments.repeats, clock)
    seen = counters.snapshot()
    inductor = [medians[way] for way in medians if way.startswith("Inductor")]
    own = min(medians[way] for way in ("dl-dicp", "frozen") if way in medians)
    frozen = medians.get("frozen")
    return {
        "model": name,
        "dtype": str(dtype).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "microseconds": medians,
        "ratios": {way: medians["dl-dicp"] / medians[way] for way in runs if way != "dl-dicp"},
        "of_best_inductor": own / min(inductor) if len(inductor) > 1 else None,
        "frozen_of_inductor": frozen / medians["Inductor"] if frozen and inductor else None,
        "of_inductor": medians[BY_INDUCTOR] / medians["Inductor"] if inductor else None,
        "kernels": counters.engine_runs["codegen"],
        "first_two_calls_seconds": first,
        "largest_difference_to_cpu": worst,
        "host_calls": dict(seen.host_calls),
        "eager": dict(seen.eager),
    }


def shares(row: dict[str, Any]) -> dict[str, float | None]:
    """Return the columns of a row other than its time, by their headings."""
    first = row["first_two_calls_seconds"]
    compiled = first["dl-dicp"] / first["Inductor"] if "Inductor" in first else None
    return {
        "/ eager dl": row["ratios"]["eager dl"],
        "/ eager CPU": row["ratios"]["eager CPU"],
        "/ Inductor": row["ratios"].get("Inductor"),
        "frozen / Inductor": row["frozen_of_inductor"],
        "best / best": row["of_best_inductor"],
        "first calls": compiled,
        "/ codegen": row["ratios"]["codegen"],
        "on dl / Inductor": row["of_inductor"],
    }


def format_row(name: str, microseconds: str, columns: dict[str, float | None]) -> str:
    """Return a line of the table."""
    cells = (f"{'-' if x is None else format(x, '.2f'):>18}" for x in columns.values())
    return f"{name:<22}{microseconds:>12}{''.join(cells)}"


def means(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the geometric mean of each column, over the rows that have it."""
    made: dict[str, float | None] = {}
    for head in shares(rows[0]):
        values = [share for row in rows if (share := shares(row)[head]) is not None]
        made[head] = exp(sum(map(log, values)) / len(values)) if values else None
    return made


def main() -> int:
    """Measure, print tables, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/dicp.json"))
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--threads", nargs="*", type=int, default=[1])
    parser.add_argument("--dtypes", nargs="*", default=["float32"])
    parser.add_argument(
        "--best-inductor",
        action="store_true",
        help="also measure Inductor with its best options, which compile for minutes",
    )
    parser.add_argument(
        "--no-inductor",
        action="store_true",
        help="skip torch's Inductor, which needs a C++ compiler",
    )
    parser.add_argument("--clock", action="store_true", help="measure wall-clock time")
    arguments = parser.parse_args()
    # All configurations share the model's code, which Dynamo compiles once for each of them.
    torch._dynamo.config.recompile_limit = 64
    rows = []
    for threads in arguments.threads:
        torch.set_num_threads(threads)
        for dtype in arguments.dtypes:
            print(f"{dtype}, threads: {threads}")
            of_group: list[dict[str, Any]] = []
            for name in arguments.only:
                row = measure(name, getattr(torch, dtype), arguments)
                if not of_group:
                    heads = "".join(f"{head:>18}" for head in shares(row))
                    print(f"{'model':<22}{'dl-dicp, us':>12}{heads}")
                of_group.append(row)
                print(
                    format_row(name, f"{row['microseconds']['dl-dicp']:.0f}", shares(row)),
                    flush=True,
                )
            for kind, trains in (("inference", False), ("training", True)):
                kin = [row for row in of_group if CASES[row["model"]].trains == trains]
                if kin:
                    print(format_row(f"mean of {kind}", "", means(kin)))
            rows += of_group
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
