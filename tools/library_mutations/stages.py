"""The stages that can reject a mutation."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypedDict

from dl_conformance.catalog import cases_of
from dl_conformance.outcome import Outcome
from dl_conformance.pool import CaseRunner, WorkerError, worker_environ
from dl_conformance.target import of_library, of_vendor
from dl_vendor_kit.library.check import check
from dl_vendor_kit.library.model import Data, Library

from .builds import Builds, CompilerError
from .mutations import Mutation

SECONDS = 20.0
"""Timeout of a case in seconds."""
PRECISIONS = ("cubeMathType", "innerPrecise")
"""First words of logged lines about the precision that a call allows, which fakes do not lower."""
LOGS = ("FAKE_ACLNN_LOG", "FAKE_CNNL_LOG")
"""Variables with the path of a file to which a fake library writes its calls and their misuse."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The stage that rejected a mutation, and why; no stage if it survived."""

    mutation: str
    stage: str
    reason: str = ""


class Stage(Protocol):
    """A stage: returns the reason for a rejection, or an empty text."""

    @property
    def name(self) -> str:
        """Return the name in reports."""

    def __call__(self, mutation: Mutation) -> str:
        """Return the reason for a rejection, or an empty text."""


def judge(mutation: Mutation, stages: Iterable[Stage]) -> Verdict:
    """Return the verdict of the first stage that rejects a mutation."""
    for stage in stages:
        reason = stage(mutation)
        if reason:
            return Verdict(mutation.name, stage.name, reason)
    return Verdict(mutation.name, "")


@dataclass(frozen=True)
class _Generator:
    library: Library
    name: str = "generator"

    def __call__(self, mutation: Mutation) -> str:
        checked = check(Data(mutation.library or self.library, [mutation.entry]))
        return "; ".join(finding.message for finding in checked.findings)


def generator_stage(library: Library) -> Stage:
    """Return the check of the data against the schema and the signatures."""
    return _Generator(library)


def simulated_driver(vendor: str) -> dict[str, str]:
    """Return the environment variables that select the simulated driver of an installed vendor."""
    target, _ = of_vendor(vendor, simulate=True)
    return target.simulated or {}


class _Answer(TypedDict):
    """Answer of the original operator to a case.

    The fake library may refuse calls of it: the next case of the description is then tried.
    """

    status: str
    precisions: list[str]
    is_refused: bool


class Conformance:
    """The conformance suite on the vendor's sources with the mutated operator.

    Only the operator's own cases run, in a random order, until one gets worse, or the fake library
    reports what a device would answer with other results, or a crash: misuse, a call that allows
    another precision, or one that it refuses although it accepts the original calls. A library
    that accepts such a call may compute something else.

    :param variables: environment variables that select a simulated driver.
    """

    name = "conformance"

    def __init__(self, builds: Builds, variables: Mapping[str, str]) -> None:
        self._builds = builds
        self._variables = dict(variables)
        self._memory = builds.folder / "expected_answers.json"
        self._expected: dict[str, dict[str, _Answer]] = {}
        if self._memory.is_file():
            self._expected = json.loads(self._memory.read_text(encoding="utf-8"))

    def expected(self, operator: str) -> dict[str, _Answer]:
        """Return the answers of the original operator's cases that can get worse."""
        if operator not in self._expected:
            # Calls of models are the same calls with larger tensors.
            names = [x.name for x in cases_of(operator) if not x.models]
            found = {
                outcome.name: _Answer(
                    status=outcome.status,
                    precisions=_precisions(lines),
                    is_refused=bool(_refusal(lines)),
                )
                for outcome, lines in self._run(self._builds.original(), names)
                if not _misuse(lines) and outcome.status in ("passed", "unsupported")
            }
            order = sorted(found)
            random.Random(operator).shuffle(order)
            self._expected[operator] = {name: found[name] for name in order}
            self._memory.write_text(json.dumps(self._expected, indent=1), encoding="utf-8")
        return self._expected[operator]

    def __call__(self, mutation: Mutation) -> str:
        expected = self.expected(mutation.entry.name)
        with tempfile.TemporaryDirectory(dir=self._builds.folder) as name:
            try:
                library = self._builds.mutated(mutation, Path(name))
            except CompilerError as error:
                return f"the compiler refuses it: {error}"
            try:
                for outcome, lines in self._run(library, expected):
                    if _misuse(lines):
                        return f"{outcome.name}: the fake library reports {_misuse(lines)}"
                    was = expected[outcome.name]
                    if _refusal(lines) and not was["is_refused"]:
                        return f"{outcome.name}: the fake library has {_refusal(lines)}"
                    # A case that was declined may be declined for another reason, or pass.
                    was_passed = was["status"] == "passed"
                    if outcome.status == "failed" or (was_passed and outcome.status != "passed"):
                        return f"{outcome.name}: {outcome.status}: {outcome.cause or '-'}"
                    if was_passed and was["precisions"] != _precisions(lines):
                        return f"{outcome.name}: the calls allow another precision"
            except WorkerError as error:
                return str(error)
        return ""

    def _run(self, library: Path, names: Iterable[str]) -> Iterator[tuple[Outcome, list[str]]]:
        """Yield the outcome of each case, and the lines that the fake library logged."""
        target = replace(of_library(str(library)), simulated=self._variables)
        with tempfile.NamedTemporaryFile(dir=self._builds.folder, suffix=".log") as log:
            logs = dict.fromkeys(LOGS, log.name)
            environ = {**worker_environ(1), **self._variables, **logs}
            runner = CaseRunner(target, seconds=SECONDS, environ=environ)
            try:
                for name in names:
                    outcome = runner.run(name)
                    yield outcome, log.read().decode(errors="replace").splitlines()
            finally:
                runner.leave()


def _misuse(lines: Iterable[str]) -> str:
    """Return the first misuse in a log; empty if there is none."""
    return next((line for line in lines if line.startswith("misuse: ")), "")


def _refusal(lines: Iterable[str]) -> str:
    """Return the first call in a log that the library refuses; empty if there is none."""
    return next((line for line in lines if line.startswith("refused: ")), "")


def _precisions(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.startswith(PRECISIONS)]
