"""The stages that can reject a mutation."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

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


class Conformance:
    """The conformance suite on the vendor's sources with the mutated operator.

    Only the operator's own cases run, in a random order, until one gets worse.

    :param variables: environment variables that select a simulated driver.
    """

    name = "conformance"

    def __init__(self, builds: Builds, variables: Mapping[str, str]) -> None:
        self._builds = builds
        self._variables = dict(variables)
        self._memory = builds.folder / "expected.json"
        self._expected: dict[str, dict[str, str]] = {}
        if self._memory.is_file():
            self._expected = json.loads(self._memory.read_text(encoding="utf-8"))

    def expected(self, operator: str) -> dict[str, str]:
        """Return the outcomes of the original operator's cases that can get worse."""
        if operator not in self._expected:
            # Calls of models are the same calls with larger tensors.
            names = [x.name for x in cases_of(operator) if not x.models]
            found = {x.name: x.status for x in self._run(self._builds.original(), names)}
            kept = {k: v for k, v in found.items() if v in ("passed", "unsupported")}
            order = sorted(kept)
            random.Random(operator).shuffle(order)
            self._expected[operator] = {name: kept[name] for name in order}
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
                for outcome in self._run(library, expected):
                    # A case that was declined may be declined for another reason, or pass.
                    was = expected[outcome.name]
                    if outcome.status == "failed" or (
                        was == "passed" and outcome.status != "passed"
                    ):
                        return f"{outcome.name}: {outcome.status}: {outcome.cause or '-'}"
            except WorkerError as error:
                return str(error)
        return ""

    def _run(self, library: Path, names: Iterable[str]) -> Iterator[Outcome]:
        target = replace(of_library(str(library)), simulated=self._variables)
        environ = {**worker_environ(1), **self._variables}
        runner = CaseRunner(target, seconds=SECONDS, environ=environ)
        try:
            for name in names:
                yield runner.run(name)
        finally:
            runner.leave()
