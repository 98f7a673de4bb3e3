"""Run the examples in child processes, and read their results."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import Case


class TrainJobError(RuntimeError):
    """A run failed; the message contains the command that repeats it."""


@dataclass(frozen=True)
class Curve:
    """Measurements of one training: losses and seconds of each step, memory in bytes."""

    losses: list[float]
    step_seconds: list[float]
    accuracy: float
    peak_allocated: int
    peak_resident: int

    @classmethod
    def read(cls, path: Path) -> Curve:
        record = json.loads(path.read_text())
        return cls(
            record["losses"],
            record["step_seconds"],
            record["accuracy"],
            record["peak_allocated_bytes"],
            record["peak_resident_bytes"],
        )


@dataclass(frozen=True)
class Measurement:
    """All runs of one case. ``rounded`` are CPU runs that differ in roundings only."""

    case: Case
    dl: Curve
    cpu: Curve
    rounded: tuple[Curve, ...]
    operators: dict[str, Any]


@dataclass(frozen=True)
class Runner:
    """Runs examples with ``threads`` threads and keeps their results in ``folder``.

    :ivar vendors: value of ``DL_VENDORS`` in the child processes; "" leaves it unchanged.
    """

    folder: Path
    threads: int
    quick: bool
    resume: bool
    vendors: str = ""

    def measure(self, case: Case) -> Measurement:
        """Train ``case`` on dl and on the CPU, and once more on dl with operators counted.

        Additional CPU runs use other roundings: their distance from the first run calibrates the
        limit for dl.
        """
        dl = self.train(case, "dl")
        cpu = self.train(case, "cpu")
        rounded = tuple(self.train(case, "cpu", rounding) for rounding in case.roundings)
        return Measurement(case, dl, cpu, rounded, self.count_operators(case))

    def train(self, case: Case, device: str, rounding: str | None = None) -> Curve:
        name = "-".join(filter(None, (case.name, device, str(self.threads), rounding)))
        output = self.folder / f"{name}.json"
        if not (self.resume and output.exists()):
            arguments = self._arguments(case, device)
            options = ["--rounding", rounding] if rounding else []
            command = [case.script, *arguments, *options, "--metrics", str(output)]
            # The peer is torch alone: without autoload, none of our code is in its process.
            autoload = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"} if device == "cpu" else {}
            self._run(command, self.threads, autoload)
        return Curve.read(output)

    def count_operators(self, case: Case) -> dict[str, Any]:
        output = self.folder / f"{case.name}-operators.json"
        if not (self.resume and output.exists()):
            arguments = [*self._arguments(case, "dl"), *case.sample]
            module = ["-m", "tools.train_job.count_operators", str(output)]
            self._run([*module, case.script, *arguments], self.threads, {})
        record: dict[str, Any] = json.loads(output.read_text())
        return record

    def _arguments(self, case: Case, device: str) -> list[str]:
        quick = ["--quick"] if self.quick else []
        return ["--device", device, "--dtype", case.dtype, *quick]

    def _run(self, arguments: Sequence[str], threads: int, extra: Mapping[str, str]) -> None:
        # Waiting threads sleep, because spinning threads would slow both sides on shared cores.
        common = {"OMP_WAIT_POLICY": "passive", "HF_HUB_OFFLINE": "1"}
        chosen = {"DL_VENDORS": self.vendors} if self.vendors else {}
        settings = {"OMP_NUM_THREADS": str(threads), **common, **chosen, **extra}
        finished = subprocess.run(
            [sys.executable, *arguments], env={**os.environ, **settings}, check=False
        )
        if finished.returncode:
            shown = " ".join(f"{name}={value}" for name, value in settings.items())
            raise TrainJobError(
                f"[train] exit status {finished.returncode}; to repeat: "
                f"{shown} {shlex.join([sys.executable, *arguments])}"
            )
