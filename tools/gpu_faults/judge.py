"""Behavior of a library in some calls: findings of the checks, and results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tools.gpu_faults.table import Expected

ROOT = Path(__file__).parents[2]
SECONDS = 120
STEPS = 20_000_000
"""Limit of instructions per launch, after which a kernel is terminated."""
_SAID = re.compile(
    r"^emulated GPU: (?P<kind>[\w-]+): (?P<message>.*)\n"
    r"(?:  at (?P<library>.*)\+(?P<offset>0x[0-9a-f]+)\n)?"
    r"  block (?P<block>-?\d+) thread (?P<thread>\d+) of (?P<kernel>.*)$",
    re.MULTILINE,
)
_PLACE = re.compile(r"([^\s,]+):(\d+)")


@dataclass(frozen=True)
class Finding:
    kind: str
    kernel: str
    lines: tuple[str, ...]
    """Source text of the line and of the lines into which it was inlined."""
    message: str

    def __str__(self) -> str:
        line = self.lines[0] if self.lines else "no line"
        return f"{self.kind} in {self.kernel[-100:]} at `{line}`: {self.message}"


@dataclass
class Outcome:
    """Outcome of one process."""

    findings: list[Finding] = field(default_factory=list)
    results: dict[str, list[np.ndarray]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    said: str = ""


def run(library: Path, half: str, cases: Sequence[str], headers: Sequence[Path]) -> Outcome:
    """Run calls in a child process.

    :param half: ``simulator``, ``emulation``, or ``cpu``, which has no checks.
    :param headers: folders that are searched first for source lines.
    """
    environment = dict(os.environ)
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        if half == "simulator":
            from dl_gpu_sim.paths import library as driver

            environment.update(
                DL_CUDA_DRIVER=str(driver()),
                DL_GPU_SIM_REPORT=str(report),
                DL_GPU_SIM_STEPS=str(STEPS),
            )
        command = [sys.executable, "-m", "tools.gpu_faults.child", str(library), *cases]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Outcome(errors=dict.fromkeys(cases, f"no result after {SECONDS} s"))
        outcome = Outcome(said=done.stderr)
        for line in done.stdout.splitlines():
            if not line.startswith('{"case"'):
                continue
            record = json.loads(line)
            if "error" in record:
                outcome.errors[record["case"]] = record["error"]
            else:
                outcome.results[record["case"]] = [_array(*each) for each in record["results"]]
        for case in cases:
            if case not in outcome.results:
                outcome.errors.setdefault(case, f"the process ended with {done.returncode}")
        if report.exists():
            found = json.loads(report.read_text(encoding="utf-8"))["findings"]
            outcome.findings = [_of_simulator(each, headers) for each in found]
    if half == "emulation":
        outcome.findings = [_of_emulation(each, headers) for each in _SAID.finditer(done.stderr)]
    return outcome


def verdict(outcome: Outcome, case: str, right: list[np.ndarray], wanted: Expected) -> str | None:
    """Return why the fault counts as missed; None if it was found and named."""
    if wanted.finding == "wrong":
        if outcome.findings:
            return f"expected only a wrong result, found {outcome.findings[0]}"
        if case in outcome.errors:
            return f"ended with an error instead of a wrong result: {outcome.errors[case]}"
        return None if difference(outcome.results[case], right) else "the result is right"
    kinds = [each for each in outcome.findings if each.kind == wanted.finding]
    if not kinds:
        others = "; ".join(map(str, outcome.findings[:2])) or outcome.errors.get(case, "nothing")
        return f"no {wanted.finding}; found: {others}"
    for each in kinds:
        in_line = not wanted.line or any(_squeezed(wanted.line) in _squeezed(x) for x in each.lines)
        if in_line and wanted.kernel in each.kernel:
            return None
    return f"found, but not in {wanted.kernel} at `{wanted.line}`: {kinds[0]}"


def difference(ours: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> str | None:
    """Return how results differ from the CPU's beyond rounding; None if they do not."""
    for number, (one, other) in enumerate(zip(ours, right, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"result {number} is {one.dtype}{one.shape}, not {other.dtype}{other.shape}"
        exact = not np.issubdtype(one.dtype, np.inexact)
        close = np.isclose(one, other, rtol=0 if exact else 1e-4, atol=0 if exact else 1e-5)
        if not bool(np.all(close)):
            return f"result {number} differs in {int(np.sum(~close))} of {one.size} elements"
    return None


def _array(dtype: str, shape: Sequence[int], data: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(data), dtype).reshape(shape)


def _of_simulator(record: Mapping[str, Any], headers: Sequence[Path]) -> Finding:
    kernel, source = str(record["kernel"]), str(record["source"])
    places = [(name, int(line)) for name, line in _PLACE.findall(source)]
    return Finding(record["kind"], kernel, _lines(places, headers), record["message"])


def _of_emulation(said: re.Match[str], headers: Sequence[Path]) -> Finding:
    places: list[tuple[str, int]] = []
    if said["library"]:
        command = ["addr2line", "-i", "-e", said["library"], said["offset"]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        places = [(name, int(line)) for name, line in _PLACE.findall(done.stdout)]
    return Finding(said["kind"], said["kernel"], _lines(places, headers), said["message"])


def _lines(places: Sequence[tuple[str, int]], headers: Sequence[Path]) -> tuple[str, ...]:
    """Return the source texts of lines, from mutated headers if there are any."""
    texts = []
    for name, number in places:
        below = name.partition("/dl_kernels/include/")[2] or name.partition("/include/")[2]
        candidates = [*(folder / below for folder in headers if below), Path(name)]
        path = next((each for each in candidates if each.is_file()), None)
        if path is None:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if 0 < number <= len(lines):
            texts.append(lines[number - 1].strip())
    return tuple(texts)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
