"""What looking costs: OpObserve for each operator, OpTimeMeasure in percent of a training step.

Observing is compared with bare ``torch.add`` on small CPU tensors and includes torch's own mode,
whose share is shown, too; thread CPU time, gradients off, bursts of the three interleaved.

Timing runs a small CNN and a small transformer on the device under test. Blocks of steps without
the tool and with it, at its default budget, alternate in one process; a block with the tool
begins with the most expensive part, so it is as long as ``--steps``. The ratio of a pair of blocks
is the overhead; the median over pairs is reported beside what the tool says of itself.

    python benchmarks/optools.py [--json FILE] [--repeats N] [--steps N] [--pairs N]
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

from dl_optools import OpObserve, OpTimeMeasure
from dl_optools.tool import device_under_test

CALLS = 2000
Step = Callable[[], None]


class Empty(TorchFunctionMode):
    """The least that any tool at the level of Python's interface costs."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def burst(call: Callable[[], object]) -> float:
    """Microseconds of thread CPU time of one call."""
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return (time.thread_time_ns() - start) / CALLS / 1e3


def observing(repeats: int, directory: str) -> dict[str, float]:
    """Microseconds of one ``torch.add``: bare, under an empty mode, observed."""
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
    """A step of a small convolutional network on 16 images of 3 x 32 x 32."""
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
    """A step of a two-layer encoder of width 128 on 8 sequences of 64 tokens."""
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


def seconds(step: Step, steps: int) -> tuple[float, float]:
    """Of the clock, and of processors: the second says more where others use the machine, too."""
    start, processors = time.perf_counter(), time.process_time()
    for _ in range(steps):
        step()
    return time.perf_counter() - start, time.process_time() - processors


def timing(step: Step, device: str, steps: int, pairs: int, directory: str) -> dict[str, Any]:
    """Overhead of the tool at its default budget, measured from outside and by itself."""
    seconds(step, 10)
    ratios: tuple[list[float], list[float]] = ([], [])
    plain, told, measured = [], [], []
    for pair in range(pairs):
        tool = OpTimeMeasure(
            device=device, directory=directory, stream=io.StringIO(), roofline=False
        )
        blocks = {}
        for with_tool in (False, True) if pair % 2 else (True, False):
            if with_tool:
                # What the tool does at its end comes once, not in each step.
                with tool:
                    blocks[with_tool] = seconds(step, steps)
            else:
                blocks[with_tool] = seconds(step, steps)
        spending = tool.results.spending
        assert spending is not None
        for kind, found in enumerate(ratios):
            found.append((blocks[True][kind] / blocks[False][kind] - 1) * 100)
        plain.append(blocks[False][0] / steps)
        told.append(spending.overhead)
        measured.append(spending.measured)
    return {
        "step_ms": statistics.median(plain) * 1e3,
        "overhead_percent": statistics.median(ratios[0]),
        "overhead_percent_each": ratios[0],
        "processor_overhead_percent": statistics.median(ratios[1]),
        "told_percent": statistics.median(told),
        "measured_steps": statistics.median(measured),
        "steps": steps,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/optools.json"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--steps", type=int, default=400, help="of each block")
    parser.add_argument("--pairs", type=int, default=5, help="blocks without and with the tool")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    device = device_under_test()
    with tempfile.TemporaryDirectory() as directory:
        observed = observing(arguments.repeats, directory)
        print("torch.add, us      bare  empty mode  observed  observing costs")
        print(
            f"            {observed['bare']:10.2f} {observed['empty_mode']:11.2f} "
            f"{observed['observed']:9.2f} {observed['overhead_us']:16.2f}  (at most 5)"
        )
        print(f"\ntiming at the default budget on {device}, blocks of {arguments.steps} steps")
        print(
            "model          step ms  overhead %  of processors  the tool says  measured steps"
            "  (at most 2 %)"
        )
        rows = {}
        for name, make in (("cnn", cnn), ("transformer", transformer)):
            row = timing(make(device), device, arguments.steps, arguments.pairs, directory)
            rows[name] = row
            print(
                f"{name:12} {row['step_ms']:9.2f} {row['overhead_percent']:11.2f} "
                f"{row['processor_overhead_percent']:14.2f} {row['told_percent']:14.2f} "
                f"{row['measured_steps']:15.0f}",
                flush=True,
            )
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "torch": torch.__version__,
        "device": device,
        "threads": torch.get_num_threads(),
        "observe": observed,
        "timing": rows,
    }
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
