"""Runs of the suite's asynchronous checks on a library, with or without a fault."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import diopi_proto
from dl_conformance.checks.check import asynchronous_checks
from dl_conformance.outcome import Outcome
from dl_conformance.pool import CaseRunner
from dl_conformance.target import Target

FOLDER = Path(__file__).parent
FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror")
SECONDS = 120.0
"""Timeout of a check in seconds."""
_ACCUSATION = re.compile(r"((?:memory|host|stream|event|device)_\w+|diopi\w+|dlop\w+)\b[^:]*: ")


class TableError(ValueError):
    """The table and vendor.cpp disagree; the message names the fault."""


@dataclass(frozen=True)
class Fault:
    """A fault; faults.yaml documents the fields."""

    fault: str
    slot: str


@dataclass(frozen=True)
class Trial:
    """Outcomes of the asynchronous checks on a library.

    :ivar fault: None: the library has no fault.
    """

    fault: Fault | None
    outcomes: list[Outcome]
    seconds: float

    @property
    def failed(self) -> list[Outcome]:
        return [x for x in self.outcomes if x.status == "failed"]

    @property
    def sentence(self) -> str:
        """The sentence that names the fault; empty if there is none."""
        right = (
            x.detail for x in self.failed if self.fault and re.match(self.fault.slot, x.detail)
        )
        return next(right, "")

    @property
    def misled(self) -> list[Outcome]:
        """Failed checks that blame a correct slot or operator."""
        return [
            x
            for x in self.failed
            if _ACCUSATION.match(x.detail)
            and not (self.fault and re.match(self.fault.slot, x.detail))
        ]

    @property
    def verdict(self) -> str:
        """One of ``named``, ``misled``, ``unnamed``, ``missed``; without a fault, ``right`` or
        ``false alarm``."""
        if self.fault is None:
            return "false alarm" if self.failed else "right"
        if self.misled:
            return "misled"
        return "named" if self.sentence else "unnamed" if self.failed else "missed"

    def as_json(self) -> dict[str, Any]:
        return {
            "fault": self.fault.fault if self.fault else None,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "failed": {x.name: f"{x.cause}: {x.detail}" for x in self.failed},
            "skipped": sum(x.status == "skipped" for x in self.outcomes),
            "seconds": round(self.seconds, 1),
        }


@cache
def read_faults() -> list[Fault]:
    """Return the faults of the table.

    :raises TableError: the vendor does not have exactly these faults.
    """
    faults = [Fault(**row) for row in yaml.safe_load((FOLDER / "faults.yaml").read_text("utf-8"))]
    names = [each.fault for each in faults]
    source = (FOLDER / "vendor.cpp").read_text("utf-8")
    seeded = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', source))
    if wrong := seeded.symmetric_difference(names):
        raise TableError(f"{min(wrong)} is in only one of faults.yaml and vendor.cpp")
    if len(set(names)) < len(names):
        raise TableError("faults.yaml has a fault twice")
    return faults


def build(folder: Path) -> Path:
    """Compile the faulty vendor.

    :raises subprocess.CalledProcessError: compilation fails.
    """
    compiler = os.environ.get("CXX") or shutil.which("c++") or "c++"
    output = folder / "libfaulty.so"
    include = f"-I{diopi_proto.include_dir()}"
    files = (str(FOLDER / "vendor.cpp"), "-o", str(output), "-ldl")
    subprocess.run([*compiler.split(), *FLAGS, include, *files], check=True)
    return output


def run_checks(target: Target, environ: dict[str, str], names: Iterable[str]) -> list[Outcome]:
    """Run checks on a library, one after another in a worker process."""
    runner = CaseRunner(target, seconds=SECONDS, environ={**os.environ, **environ})
    try:
        return [runner.run(name) for name in names]
    finally:
        runner.leave()


def try_fault(library: Path, base: Path, fault: Fault | None) -> Trial:
    """Run all asynchronous checks on the faulty vendor.

    :param library: the faulty vendor.
    :param base: the asynchronous library to which it forwards.
    """
    environ = {"DL_FAULT_LIBRARY": str(base), "DL_FAULT": fault.fault if fault else ""}
    return _trial(Target("faulty", str(library)), environ, fault)


def try_target(target: Target) -> Trial:
    """Run all asynchronous checks on a library without a fault."""
    return _trial(target, {}, None)


def _trial(target: Target, environ: dict[str, str], fault: Fault | None) -> Trial:
    begun = time.monotonic()
    outcomes = run_checks(replace(target, guarded=True), environ, asynchronous_checks())
    return Trial(fault, outcomes, time.monotonic() - begun)
