"""Shared parts of the training examples: command line, batches of text, and the log of a run."""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def default_device() -> torch.device:
    """Return the accelerator that torch found, or the CPU if there is none."""
    return torch.accelerator.current_accelerator() or torch.device("cpu")


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the common arguments of the examples."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", type=torch.device, default=default_device())
    parser.add_argument(
        "--dtype", choices=DTYPES, default="float32", help="dtype (bfloat16: autocast)"
    )
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--rounding",
        choices=("nudged", "no-onednn"),
        help="change rounding: move each weight by one ulp, or disable oneDNN on the CPU",
    )
    parser.add_argument("--metrics", type=Path, help="write losses and times to this JSON file")
    parser.add_argument("--quick", action="store_true", help="a few steps on small batches")
    return parser


def autocast(device: torch.device, dtype: str) -> torch.autocast:
    """Return an autocast context for ``device`` that does nothing in float32."""
    enabled = dtype != "float32"
    return torch.autocast(device.type, dtype=DTYPES[dtype] if enabled else None, enabled=enabled)


def round_otherwise(model: torch.nn.Module, rounding: str | None, seed: int) -> None:
    """Change only the rounding of a run, to measure how training amplifies rounding errors.

    ``nudged`` moves every weight to an adjacent number, up or down at random from ``seed``;
    ``no-onednn`` makes torch's CPU use its other kernels.
    """
    if rounding == "no-onednn":
        torch.backends.mkldnn.enabled = False
    if rounding != "nudged":
        return
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            side = torch.randint(0, 2, weight.shape, generator=generator).to(weight.device) * 2 - 1
            weight.copy_(torch.nextafter(weight, side * torch.inf))


def standard_library_text() -> torch.Tensor:
    """Return the sources of Python's standard library as one uint8 tensor of bytes."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    text = b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return torch.frombuffer(bytearray(text), dtype=torch.uint8)


def windows(text: torch.Tensor, shape: tuple[int, int], seed: int) -> Iterator[torch.Tensor]:
    """Yield int64 batches of ``shape`` (rows, length): random windows of ``text``, on the CPU."""
    generator = torch.Generator().manual_seed(seed)
    rows, length = shape
    reach = torch.arange(length)
    while True:
        starts = torch.randint(len(text) - length, (rows, 1), generator=generator)
        yield text[starts + reach].long()


class RunLog:
    """Record of the loss and seconds of each step, with a progress bar."""

    def __init__(self, label: str, device: torch.device, total_steps: int) -> None:
        self.losses: list[float] = []
        self.step_seconds: list[float] = []
        self.device = device
        self._label = label
        self._total = total_steps

    @contextlib.contextmanager
    def progress(self) -> Iterator[None]:
        """Show the progress of the steps inside this context, on a terminal or as plain lines."""
        self._show = self._print_line
        try:
            from rich.progress import Progress
        except ImportError:
            yield
            return
        if not sys.stdout.isatty():
            yield
            return
        with Progress() as bar:
            task = bar.add_task(self._label, total=self._total)
            self._show = lambda: bar.update(
                task, advance=1, description=f"{self._label} loss {self.losses[-1]:.3f}"
            )
            yield

    @contextlib.contextmanager
    def step(self) -> Iterator[list[torch.Tensor]]:
        """Time one step; the body of the with statement appends its loss to the list."""
        loss: list[torch.Tensor] = []
        start = time.perf_counter()
        yield loss
        self.losses.append(loss[0].item())  # waits for the device
        if self.device.type != "cpu":
            torch.accelerator.synchronize()
        self.step_seconds.append(time.perf_counter() - start)
        self._show()

    def _print_line(self) -> None:
        done = len(self.losses)
        if done == self._total or done % max(1, self._total // 10) == 0:
            self._say(f"step {done}/{self._total}, loss {self.losses[-1]:.4f}")

    def _say(self, text: str) -> None:
        print(f"{self._label}: {text}", flush=True)

    def finish(self, accuracy: float, metrics: Path | None, arguments: dict[str, Any]) -> None:
        """Print the results and, with ``--metrics``, write them as JSON."""
        steps = sorted(self.step_seconds)
        median = steps[len(steps) // 2]
        self._say(f"accuracy {accuracy:.2%}, median step {median * 1e3:.1f} ms")
        if metrics is None:
            return
        allocated = 0
        if self.device.type != "cpu":
            allocated = torch.accelerator.max_memory_allocated()
        record = {
            "arguments": {name: str(value) for name, value in arguments.items()},
            "device": str(self.device),
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "losses": self.losses,
            "step_seconds": self.step_seconds,
            "accuracy": accuracy,
            "peak_allocated_bytes": allocated,
            # Linux reports the resident set in KiB.
            "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        metrics.parent.mkdir(parents=True, exist_ok=True)
        metrics.write_text(json.dumps(record, indent=1))
