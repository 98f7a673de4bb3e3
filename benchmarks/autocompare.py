"""Cost of comparing every operator of a training run with the CPU, and of the naive method.

The naive method is the method of most such tools: on the training thread, each operator's
arguments are copied to the CPU, it runs there in float64, and the results are compared immediately
(allclose, largest errors, cosine). autocompare checks the same operators, forward and backward, in
two settings: its default (a fraction of the steps; in these every new signature, then every 100th
call of it and some more) and exhaustive (every call, like the naive method).

Each run trains a new model for some steps on the same data; its time includes everything, also the
comparisons that remain when training ends. Runs of all methods alternate in one process.

    python benchmarks/autocompare.py [--json FILE] [--repeats N] [--steps N] [--model NAME]
                                     [--device NAME] [--quick]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from models import training_step
from torch.utils._python_dispatch import TorchDispatchMode

from diopi_proto.tolerance.torch_operators.comparison import to_host
from diopi_proto.tolerance.torch_operators.op_classes import draws, may_compute
from dl_optools import OpAutoCompare
from dl_optools.compare.subjects import NotComparableError, OverloadSubject
from dl_optools.compare.trace import answers_of
from dl_optools.names import Level
from dl_optools.operators import is_known
from dl_optools.relocation import WIDER, Relocation
from dl_optools.tensors import runs_on

WAYS = ("plain", "naive", "default", "exhaustive")
WANTED = 3.0
"""Required speedup over the naive method."""


class Naive(TorchDispatchMode):
    """The naive method: runs every operator again on the CPU, immediately."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = device
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if (
            not is_known(str(func), Level.DISPATCH)
            or not may_compute(func)
            or draws(func, args, kwargs)
            or not runs_on(self.device, args, kwargs)
        ):
            return func(*args, **kwargs)
        self.counts["calls"] += 1
        subject = OverloadSubject(func)
        device = kwargs.get("device")
        moved = Relocation((args, {**kwargs, "device": "cpu"} if device else kwargs), dtypes=WIDER)
        result = func(*args, **kwargs)
        with contextlib.suppress(RuntimeError, NotComparableError):
            wanted = subject.run(moved.tree)
            got = answers_of(subject.facts, result, args, kwargs)
            for (_, have), want in zip(got, wanted, strict=True):
                if isinstance(have, torch.Tensor) and isinstance(want, torch.Tensor):
                    self.compare(to_host(have), want.detach())
            self.counts["checked"] += 1
        return result

    def compare(self, got: torch.Tensor, want: torch.Tensor) -> None:
        have, want = got.double(), want.double()
        error = (have - want).abs()
        self.counts["close"] += torch.allclose(have, want, 1e-5, 1e-5, equal_nan=True)
        if error.numel():
            error.max().item()
            (error / (want.abs() + 1e-6)).max().item()
            torch.cosine_similarity(have.flatten(), want.flatten(), 0).item()


@contextlib.contextmanager
def watched(way: str, device: str, counts: dict[str, int]) -> Iterator[None]:
    """Train by one of the methods; ``counts`` gets the numbers of calls and checks."""
    if way == "plain":
        yield
    elif way == "naive":
        with Naive(device) as naive:
            yield
        counts.update(naive.counts)
    else:
        every = 1 if way == "exhaustive" else None
        tool = OpAutoCompare(device=device, every=every, stream=None, csv=False)
        with tool:
            yield
        found = tool.results
        counts.update(
            calls=found.calls,
            checked=found.checked,
            signatures=found.signatures,
            failed=found.failed,
            dropped=found.dropped.total(),
            not_comparable=found.not_comparable.total(),
        )


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one row for each method."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    counts: dict[str, dict[str, int]] = {way: {} for way in WAYS}
    for _ in range(arguments.repeats):
        for way in WAYS:
            step = training_step(
                arguments.model, arguments.device, arguments.dtype, arguments.quick
            )
            step()
            start = time.perf_counter()
            with watched(way, arguments.device, counts[way]):
                for _ in range(arguments.steps):
                    step()
            seconds[way].append(time.perf_counter() - start)
    median = {way: statistics.median(values) for way, values in seconds.items()}
    return [
        {
            "way": way,
            "seconds": median[way],
            "ms_a_step": median[way] / arguments.steps * 1e3,
            "times_plain": median[way] / median["plain"],
            "faster_than_naive": median["naive"] / median[way],
            **counts[way],
        }
        for way in WAYS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/autocompare.json"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--model", default="cnn", choices=("cnn", "encoder", "decoder"))
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--device", default="dl")
    parser.add_argument("--quick", action="store_true", help="a small model and batch")
    arguments = parser.parse_args()
    rows = measure(arguments)
    print("way          ms/step  x plain  x faster than naive   calls checked signatures dropped")
    for row in rows:
        print(
            f"{row['way']:11} {row['ms_a_step']:8.1f} {row['times_plain']:8.2f} "
            f"{row['faster_than_naive']:20.2f} {row.get('calls', 0):7} {row.get('checked', 0):7} "
            f"{row.get('signatures', 0):10} {row.get('dropped', 0):7}"
        )
    by_way = {row["way"]: row for row in rows}
    ratio = by_way["default"]["faster_than_naive"]
    print(
        f"the default is {ratio:.1f} times faster than the naive way (wanted: {WANTED:g}); it "
        f"compared {by_way['default']['checked']} of {by_way['default']['calls']} calls in the "
        f"steps that it watched, the first of each of {by_way['default']['signatures']} signatures "
        "among them"
    )
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "model": arguments.model,
        "dtype": arguments.dtype,
        "device": arguments.device,
        "quick": arguments.quick,
        "steps": arguments.steps,
        "repeats": arguments.repeats,
        "rows": rows,
        "wanted": WANTED,
    }
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
