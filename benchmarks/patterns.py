"""Sequences that patterns rewrite: the fused call, compared with the calls that it replaces.

A row has the median processor times of a call with and without the pattern, alternating in one run
on one thread, both with the tiled engine. Ratios below 1 are in favour of the pattern.

    python benchmarks/patterns.py [--json FILE] [--repeats N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _in_turn import microseconds_in_turn
from torch import Tensor

from dl_dicp import statistics as counters


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT * 0.125, -1) @ v


def masked_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT * 0.125 + mask, -1) @ v


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x @ weight + bias


def polynomial(x: Tensor, y: Tensor) -> Tensor:
    out = x * y + y
    for _ in range(4):
        out = out * x + y
    return out


HEADS = (2, 8, 256, 64)
ROWS: dict[str, tuple[str, Callable[..., Tensor], tuple[tuple[int, ...], ...]]] = {
    "RMS norm, 64 words": ("rms-norm", rms_norm, ((64, 512), (512,))),
    "RMS norm, 2048 words": ("rms-norm", rms_norm, ((2048, 1024), (1024,))),
    "attention": ("attention", attention, (HEADS,) * 3),
    "attention, 32 queries": ("attention", attention, ((2, 8, 32, 64), HEADS, HEADS)),
    "attention with a mask": ("attention", masked_attention, ((HEADS,) * 3) + ((256, 256),)),
    "product and bias": ("linear-bias", linear, ((128, 512), (512, 512), (512,))),
    "product and residual": ("linear-bias", linear, ((128, 512), (512, 512), (128, 512))),
    "product and bias, one token": ("linear-bias", linear, ((1, 512), (512, 512), (512,))),
    "polynomial": ("multiply-add", polynomial, ((2048, 1024), (2048, 1024))),
    "polynomial, small": ("multiply-add", polynomial, ((64, 256), (64, 256))),
}
"""Patterns with a function and the shapes of its arguments, by name."""


def measure(name: str, repeats: int) -> dict[str, Any]:
    """Return the medians of one sequence, in microseconds."""
    torch._dynamo.reset()
    pattern, function, shapes = ROWS[name]
    given = [torch.rand(shape, device="dl") for shape in shapes]
    ways = {
        way: torch.compile(function, backend="dl", options={"patterns": chosen})
        for way, chosen in (("fused", [pattern]), ("apart", False))
    }
    counters.reset()
    with torch.no_grad():
        for compiled in ways.values():
            for _ in range(3):
                compiled(*given)
        runs = {way: functools.partial(each, *given) for way, each in ways.items()}
        medians = microseconds_in_turn(runs, repeats)
    seen = counters.snapshot()
    return {
        "sequence": name,
        "pattern": pattern,
        "rewritten": seen.patterns[pattern],
        "microseconds": medians,
        "ratio": medians["fused"] / medians["apart"],
    }


def main() -> int:
    """Measure, print a table, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/patterns.json"))
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--only", nargs="*", choices=ROWS, default=list(ROWS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print(f"{'sequence':<28}{'pattern':<14}{'fused, us':>10}{'/ apart':>9}")
    for name in arguments.only:
        row = measure(name, arguments.repeats)
        rows.append(row)
        fused = row["microseconds"]["fused"]
        print(f"{name:<28}{row['pattern']:<14}{fused:>10.0f}{row['ratio']:>9.2f}", flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["rewritten"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
