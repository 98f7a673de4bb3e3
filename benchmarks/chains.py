"""Memory-bound chains of operators: row blocks and compiled kernels, compared with whole calls and
Inductor.

A row has the median time of one call; the engines of the graph compiler and Inductor alternate in
one run. It is the processor time of all threads together, because wall-clock time would include
other load of the machine. Ratios below 1 are in favour of the engine `tiled`, or `codegen`. The
last column compares the engine `inductor` on dl tensors with Inductor on CPU tensors.

    python benchmarks/chains.py [--json FILE] [--repeats N] [--only NAME ...] [--no-inductor]
        [--threads N ...] [--dtypes NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dl_dicp import statistics as counters
from dl_dicp.engines.codegen.racing import RUNS, wait_for_kernels

Chain = Callable[..., Any]
Shapes = tuple[tuple[int, ...], ...]

ROWS = (8, 256, 1024)
HEADS = (2, 8, 512, 512)
TURNED = (4, 16, 512, 64)
FLAT = (2048, 1024)


def gelu_gate(x: Tensor, gate: Tensor, rest: Tensor) -> Tensor:
    return F.gelu(x) * gate + rest


def gelu_tanh_bias(x: Tensor, bias: Tensor) -> Tensor:
    return F.gelu(x + bias, approximate="tanh") * 0.5


def layer_norm_residual(x: Tensor, rest: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x + rest, weight.shape, weight, bias) + rest


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], -1) * sin


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    return F.silu(gate) * up


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores * 0.125 + mask, -1)


def bias_residual(x: Tensor, bias: Tensor, rest: Tensor) -> Tensor:
    return (x + bias) * 0.9 + rest


def adamw(weight: Tensor, grad: Tensor, mean: Tensor, square: Tensor) -> tuple[Tensor, ...]:
    mean = mean * 0.9 + grad * 0.1
    square = square * 0.999 + grad * grad * 0.001
    step = (mean / 0.9) / ((square / 0.999).sqrt() + 1e-8)
    return weight * 0.9999 - step * 0.001, mean, square


def normalised_activation(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return F.silu(F.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift)


def loss(scores: Tensor, target: Tensor) -> Tensor:
    wide = torch.log_softmax(scores, -1)
    return -(wide * target).sum(-1)


def smooth_distance(x: Tensor, y: Tensor) -> Tensor:
    gap = (x - y).abs()
    return torch.where(gap < 1, 0.5 * gap * gap, gap - 0.5).mean(-1)


def polynomial(x: Tensor, y: Tensor) -> Tensor:
    out = x * y + 0.5
    for _ in range(4):
        out = out * x + y
    return torch.relu(out)


CHAINS: dict[str, tuple[Chain, Shapes]] = {
    "gelu, mul, add": (gelu_gate, (ROWS, ROWS, ROWS)),
    "bias, gelu tanh": (gelu_tanh_bias, (ROWS, ROWS[-1:])),
    "add, layer norm, add": (layer_norm_residual, (ROWS, ROWS, ROWS[-1:], ROWS[-1:])),
    "RMS norm": (rms_norm, (ROWS, ROWS[-1:])),
    "rotary embedding": (rotary, (TURNED, TURNED[-2:], TURNED[-2:])),
    "SwiGLU": (swiglu, (ROWS, ROWS)),
    "scale, mask, softmax": (masked_softmax, (HEADS, HEADS[-2:])),
    "bias, residual": (bias_residual, (ROWS, ROWS[-1:], ROWS)),
    "AdamW": (adamw, (FLAT,) * 4),
    "norm, modulate, silu": (normalised_activation, (ROWS, ROWS[-1:], ROWS[-1:])),
    "log softmax, loss": (loss, (FLAT, FLAT)),
    "smooth distance": (smooth_distance, (FLAT, FLAT)),
    "polynomial": (polynomial, (FLAT, FLAT)),
}
"""Functions with the shapes of their arguments, by name."""

ENGINES = ("tiled", "contract", "codegen")
BY_INDUCTOR = "inductor"
PEERS = ("contract", "Inductor")


def ways(name: str, dtype: torch.dtype, inductor: bool) -> dict[str, Callable[[], Any]]:
    """Return calls that run a chain, by the name of their engine."""
    function, shapes = CHAINS[name]
    torch.manual_seed(0)
    given = [torch.rand(shape).to(dtype) for shape in shapes]
    on_dl = [x.to("dl") for x in given]

    def run(compiled: Chain, arguments: list[Tensor]) -> Callable[[], Any]:
        def once() -> Any:
            with torch.no_grad():
                return compiled(*arguments)

        return once

    made = {
        engine: run(torch.compile(function, backend="dl", options={"engine": engine}), on_dl)
        for engine in ((*ENGINES, BY_INDUCTOR) if inductor else ENGINES)
    }
    made["eager dl"] = run(function, on_dl)
    return {**made, "Inductor": run(torch.compile(function), given)} if inductor else made


def measure(name: str, dtype: torch.dtype, repeats: int, inductor: bool) -> dict[str, Any]:
    """Return the medians of one chain, in microseconds of processor time and wall-clock time."""
    torch._dynamo.reset()
    runs = ways(name, dtype, inductor)
    results = {}
    for way, run in runs.items():
        counters.reset()
        for _ in range(3):
            made = run()
        if way == "codegen":
            wait_for_kernels()
            for _ in range(2 * RUNS + 2):  # it checks and races candidates
                made = run()
        results[way] = [x.cpu() for x in (made if isinstance(made, tuple) else (made,))]
        if way == "tiled":
            seen = counters.snapshot()
    pairs = zip(results["tiled"], results["contract"], strict=True)
    spent: dict[str, list[int]] = {way: [] for way in runs}
    passed: dict[str, list[int]] = {way: [] for way in runs}
    for _ in range(repeats):
        for way, run in runs.items():
            start, clock = time.process_time_ns(), time.perf_counter_ns()
            run()
            spent[way].append(time.process_time_ns() - start)
            passed[way].append(time.perf_counter_ns() - clock)
    medians = {way: statistics.median(times) / 1000 for way, times in spent.items()}
    return {
        "chain": name,
        "dtype": str(dtype).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "bytes": sum(prod(s) for s in CHAINS[name][1]) * dtype.itemsize,
        "microseconds": medians,
        "least": {way: min(times) / 1000 for way, times in spent.items()},
        "clock": {way: statistics.median(times) / 1000 for way, times in passed.items()},
        "ratios": {
            engine: {way: medians[engine] / medians[way] for way in PEERS if way in runs}
            for engine in ("tiled", "codegen")
        },
        "of_inductor": medians[BY_INDUCTOR] / medians["Inductor"] if inductor else None,
        "equal_to_contract": all(torch.equal(a, b) for a, b in pairs),
        "calls": seen.calls // max(seen.graphs, 1),
        "tiled_calls": seen.tiled_calls // max(seen.graphs, 1),
        "eager": dict(seen.eager),
        "host_calls": dict(seen.host_calls),
    }


def main() -> int:
    """Measure, print a table, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/chains.json"))
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--only", nargs="*", choices=CHAINS, default=list(CHAINS))
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--dtypes", nargs="*", default=["float32", "bfloat16"])
    parser.add_argument(
        "--no-inductor",
        action="store_true",
        help="skip torch's Inductor, which needs a C++ compiler",
    )
    arguments = parser.parse_args()
    rows = []
    for threads in arguments.threads:
        torch.set_num_threads(threads)
        for dtype in arguments.dtypes:
            print(f"\n{dtype}, threads: {threads}")
            print(
                f"{'chain':<22}{'tiled, us':>10}{'calls':>7}{'/ whole':>9}{'/ Inductor':>12}"
                f"{'codegen, us':>13}{'/ whole':>9}{'/ Inductor':>12}{'on dl / Inductor':>18}"
            )
            few = []
            for name in arguments.only:
                row = measure(
                    name, getattr(torch, dtype), arguments.repeats, not arguments.no_inductor
                )
                few.append(row)
                print(_line(row), flush=True)
            rows += few
            for engine in ("tiled", "codegen"):
                for way in PEERS:
                    ratios = [row["ratios"][engine].get(way) for row in few]
                    if None not in ratios:
                        mean = statistics.geometric_mean(ratios)
                        print(f"geometric mean of {engine} / {way}: {mean:.2f}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["equal_to_contract"] for row in rows) else 1


def _line(row: dict[str, Any]) -> str:
    def ratios(engine: str) -> str:
        found = row["ratios"][engine]
        shown = [f"{found[way]:.2f}" if way in found else "-" for way in PEERS]
        return f"{shown[0]:>9}{shown[1]:>12}"

    calls = f"{row['tiled_calls']}/{row['calls']}"
    differs = "" if row["equal_to_contract"] else "  differs from whole calls"
    times = row["microseconds"]
    ours = f"{row['of_inductor']:.2f}" if row["of_inductor"] else "-"
    return (
        f"{row['chain']:<22}{times['tiled']:>10.0f}{calls:>7}{ratios('tiled')}"
        f"{times['codegen']:>13.0f}{ratios('codegen')}{ours:>18}{differs}"
    )


if __name__ == "__main__":
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    sys.exit(main())
