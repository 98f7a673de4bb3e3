"""Overhead of the op tools: OpObserve per operator, OpTimeMeasure and OpAutoCompare per step.

Observing is compared with bare ``torch.add`` on small CPU tensors. It includes the cost of torch's
own mode, which is shown too; thread CPU time without gradients, in alternating bursts.

Timing runs a small CNN and a small transformer on the device under test, at the tool's default
budget. The figure is the extra time of measured steps over the steps around them, from the third
step on, in percent of these steps, next to the tool's own report. Steps that are not measured are
compared with a run without the tool.

Comparing trains the same models without and with OpAutoCompare at its default budget, alternately.
The figures are ratios of step times: from the third step on, and in a second run of equal length,
in which no signature is new; by wall time, by CPU time of the program's thread, and by CPU time of
all threads, including those that compute references.

    python benchmarks/optools.py [--json FILE] [--repeats N] [--steps N] [--part NAME]...
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from dl_optools import OpAutoCompare, OpObserve, OpTimeMeasure
from dl_optools.tool import device_under_test

CALLS = 2000
NEIGHBOURS = 8
Step = Callable[[], None]


class Empty(TorchFunctionMode):
    """An empty mode: the minimum cost of any tool of this kind."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def burst(call: Callable[[], object]) -> float:
    """Return the microseconds of thread CPU time of one call."""
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return (time.thread_time_ns() - start) / CALLS / 1e3


def observing(repeats: int, directory: str) -> dict[str, float]:
    """Return the microseconds of one ``torch.add``: bare, under an empty mode, observed."""
    a, b = torch.ones(4), torch.ones(4)

    def call() -> object:
        return torch.add(a, b)

    times: dict[str, list[float]] = {"bare": [], "empty_mode": [], "observed": []}
    with torch.no_grad():
        for _ in range(repeats):
            times["bare"].append(burst(call))
            with Empty():
                times["empty_mode"].append(burst(call))
            with OpObserve(device="cpu", directory=directory, stream=io.StringIO()):
                times["observed"].append(burst(call))
    median = {name: statistics.median(values) for name, values in times.items()}
    return {**median, "overhead_us": median["observed"] - median["bare"]}


def cnn(device: str) -> Step:
    """Return a step of a small convolutional network on 16 images of 3 x 32 x 32."""
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    ).to(device)
    inputs = torch.randn(16, 3, 32, 32).to(device)
    labels = torch.randint(10, (16,)).to(device)
    return training(model, lambda: nn.functional.cross_entropy(model(inputs), labels))


def transformer(device: str) -> Step:
    """Return a step of a two-layer encoder of width 128 on 8 sequences of 64 tokens."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    model = nn.Sequential(nn.Embedding(256, 128), encoder, nn.Linear(128, 256)).to(device)
    tokens = torch.randint(256, (8, 64)).to(device)
    return training(
        model, lambda: nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    )


def training(model: torch.nn.Module, loss_of: Callable[[], torch.Tensor]) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def timing(step: Step, device: str, steps: int, directory: str) -> dict[str, Any]:
    """Return the overhead of the tool at its default budget: measured here, and its own report.

    The cost of a measured step is its duration minus the median of the unmeasured steps around it,
    so that other load on the machine matters little. It matters even less for the CPU time of the
    program's thread, which does not include waiting for a device.
    """
    for _ in range(10):
        step()
    plain = lengths(step, steps)[0]
    tool = OpTimeMeasure(device=device, directory=directory, stream=io.StringIO(), roofline=False)
    with tool:
        times, processor, measured = lengths(step, steps, tool)
    spending = tool.results.spending
    assert spending is not None
    usual = [x for at, x in enumerate(times) if at not in measured]
    return {
        "step_ms": statistics.median(plain) * 1e3,
        "other_steps_ms": statistics.median(usual) * 1e3,
        "measured_steps": len(measured),
        "overhead_percent": added(times, measured),
        "processor_percent": added(processor, measured),
        "told_percent": spending.overhead,
        "steps": steps,
    }


def added(times: list[float], measured: list[int]) -> float:
    """Return the extra time of measured steps from the third on, in percent of all those steps."""
    first = 2
    usual = {at: x for at, x in enumerate(times) if at not in measured and at >= first}
    more = 0.0
    for at in measured:
        if at >= first:
            around = sorted(usual, key=lambda other: abs(other - at))[:NEIGHBOURS]
            more += times[at] - statistics.median(usual[other] for other in around)
    return 100 * more / (sum(times[first:]) - more)


def lengths(
    step: Step, steps: int, tool: OpTimeMeasure | None = None
) -> tuple[list[float], list[float], list[int]]:
    """Return wall and thread seconds of each step, and which steps the tool measured."""
    times, processor, measured = [], [], []
    for at in range(steps):
        if tool is not None and tool.measuring:
            measured.append(at)
        start, worked = time.perf_counter(), time.thread_time()
        step()
        times.append(time.perf_counter() - start)
        processor.append(time.thread_time() - worked)
    return times, processor, measured


def comparing(step: Step, device: str, steps: int, rounds: int) -> dict[str, Any]:
    """Return ratios of step times with OpAutoCompare to step times without, early and later."""
    ratios: dict[str, list[dict[str, float]]] = {"third": [], "later": []}
    for _ in range(10):
        step()
    looked = ""
    before = seconds(step, steps)
    for _ in range(rounds):
        with OpAutoCompare(device=device, stream=None, csv=False) as tool:
            step(), step()
            compared = {when: seconds(step, steps) for when in ratios}
        looked = tool.results.coverage()
        # The run with the tool is between two without, because the machine's speed varies.
        after = seconds(step, steps)
        for when, found in ratios.items():
            found.append({x: 2 * compared[when][x] / (before[x] + after[x]) for x in CLOCKS})
        before = after
    medians = {
        when: {name: statistics.median(x[name] for x in found) for name in CLOCKS}
        for when, found in ratios.items()
    }
    return {**medians, "rounds": ratios, "steps": steps, "looked": looked}


CLOCKS = {"wall": time.perf_counter, "thread": time.thread_time, "processor": time.process_time}


def seconds(step: Step, steps: int) -> dict[str, float]:
    """Return the time of the steps by each clock."""
    begun = {name: clock() for name, clock in CLOCKS.items()}
    for _ in range(steps):
        step()
    return {name: clock() - begun[name] for name, clock in CLOCKS.items()}


def show_observing(arguments: argparse.Namespace, _: str, directory: str) -> dict[str, Any]:
    observed = observing(arguments.repeats, directory)
    print("torch.add, us      bare  empty mode  observed  observing costs")
    print(
        f"            {observed['bare']:10.2f} {observed['empty_mode']:11.2f} "
        f"{observed['observed']:9.2f} {observed['overhead_us']:16.2f}  (at most 5)"
    )
    return observed


def show_timing(arguments: argparse.Namespace, device: str, directory: str) -> dict[str, Any]:
    print(f"\ntiming at the default budget on {device}, {arguments.steps} steps")
    print(
        "              step ms  other steps ms  measured  overhead %  of processor %  "
        "the tool says %"
    )
    rows = {}
    for name, make in MODELS.items():
        row = rows[name] = timing(make(device), device, arguments.steps, directory)
        print(
            f"{name:12} {row['step_ms']:8.2f} {row['other_steps_ms']:15.2f} "
            f"{row['measured_steps']:9} {row['overhead_percent']:11.2f} "
            f"{row['processor_percent']:15.2f} "
            f"{row['told_percent']:16.2f}  (at most 2 %)",
            flush=True,
        )
    return rows


def show_comparing(arguments: argparse.Namespace, device: str, _: str) -> dict[str, Any]:
    steps = max(arguments.steps // 10, 1)
    print(
        f"\ncomparing at the default budget on {device}, twice {steps} steps, x plain (at most 1.3)"
    )
    print("                  wall    thread  processor")
    rows = {}
    for name, make in MODELS.items():
        row = rows[name] = comparing(make(device), device, steps, arguments.repeats)
        for when in ("third", "later"):
            times = row[when]
            print(
                f"{name:12} {when} {times['wall']:6.2f} {times['thread']:9.2f} "
                f"{times['processor']:10.2f}"
            )
        print(f"  {row['looked']}", flush=True)
    return rows


MODELS = {"cnn": cnn, "transformer": transformer}
PARTS = {"observing": show_observing, "timing": show_timing, "comparing": show_comparing}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/optools.json"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument(
        "--steps", type=int, default=500, help="number of steps in each run (default: 500)"
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="part to run (default: all)")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    device = device_under_test()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        for part in arguments.part or PARTS:
            found[part] = PARTS[part](arguments, device, directory)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "torch": torch.__version__,
        "device": device,
        "threads": torch.get_num_threads(),
        **found,
    }
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
