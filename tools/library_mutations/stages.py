"""The stages that can reject a mutation."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir
from dl_vendor_kit.library import emit
from dl_vendor_kit.library.check import check
from dl_vendor_kit.library.model import Data, Library

from .mutations import Mutation

MOST_NAMES = 2000
"""Maximum number of cases in a command line."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The stage that rejected a mutation, and why; no stage if it survived."""

    mutation: Mutation
    stage: str
    reason: str


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
            return Verdict(mutation, stage.name, reason)
    return Verdict(mutation, "", "")


@dataclass(frozen=True)
class _Generator:
    library: Library
    name: str = "generator"

    def __call__(self, mutation: Mutation) -> str:
        checked = check(Data(self.library, [mutation.entry]))
        return "; ".join(finding.message for finding in checked.findings)


def generator_stage(library: Library) -> Stage:
    """Return the check of the data against the schema and the signatures."""
    return _Generator(library)


def simulated_driver(vendor: str) -> dict[str, str]:
    """Return the environment variables that select the simulated driver of an installed vendor."""
    from dl_conformance.target import of_vendor

    target, _ = of_vendor(vendor, simulate=True)
    return target.simulated or {}


class Conformance:
    """The conformance suite on the vendor's sources with the mutated operator.

    All sources are compiled once. For each mutation only the mutated operator is, which precedes
    the original one in the linker's command.

    :param scratch: existing folder for objects, libraries and reports; the caller removes it.
    :param variables: environment variables that select a simulated driver.
    """

    name = "conformance"

    def __init__(
        self,
        library: Library,
        csrc: Path,
        defines: Sequence[str],
        variables: Mapping[str, str],
        sample: str,
        scratch: Path,
    ) -> None:
        self._library = library
        self._csrc = csrc.resolve()
        self._defines = [f"-D{x}" for x in defines]
        self._sample = sample
        self._env = {**os.environ, **variables}
        self._folder = scratch
        self._originals = self._compile_originals()
        self._expected: dict[str, dict[str, str]] = {}

    def prepare(self, operators: Iterable[str]) -> None:
        """Run the suite on the original operators."""
        wanted = {*operators} - self._expected.keys()
        self._expected.update({name: {} for name in wanted})
        if not wanted:
            return
        from dl_conformance.catalog import all_cases

        # Calls of models are the same calls with larger tensors.
        chosen = [x for x in all_cases() if x.operator in wanted and not x.models]
        operator_of = {case.name: case.operator for case in chosen}
        target = self._folder / "original"
        target.mkdir(exist_ok=True)
        library = self._link((), target)
        for names in batches([*operator_of]):
            for name, outcome in self._outcomes(library, names, target).items():
                if outcome in ("passed", "unsupported"):
                    self._expected[operator_of[name]][name] = outcome

    def __call__(self, mutation: Mutation) -> str:
        operator = mutation.entry.name
        self.prepare([operator])
        expected = self._expected[operator]
        if not expected:
            return ""
        found: dict[str, str] = {}
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = Path(name)
            try:
                changed = self._compile_entry(mutation, folder)
            except RuntimeError as error:
                return f"the compiler refuses it: {error}"
            library = self._link((changed,), folder)
            for names in batches([*expected]):
                found.update(self._outcomes(library, names, folder))
        # A case that was declined may be declined for another reason, or pass.
        worse = [
            case
            for case, outcome in expected.items()
            if found.get(case, "failed") == "failed"
            or (outcome == "passed" and found[case] != "passed")
        ]
        if not worse:
            return ""
        return f"{len(worse)} cases get worse, such as {worse[0]}: {found.get(worse[0])}"

    def _compile_originals(self) -> list[Path]:
        generated = self._csrc / "generated"
        families = sorted(generated.glob("*.cpp"))
        joined = self._folder / "joined.cpp"
        joined.write_text("".join(f'#include "{x}"\n' for x in families), encoding="utf-8")
        others = [x for x in sorted(self._csrc.rglob("*.cpp")) if x not in families]
        # Precompiled headers, with which a mutation compiles in less than a second.
        headers = ["dl/kit/library/call.h", "dl/kit/library/helpers.h", "dl/kit/library/random.h"]
        headers += [str(generated / f"{x}.gen.h") for x in ("functions", "operators")]
        headers += self._library.headers
        prefix = self._folder / "prefix.h"
        prefix.write_text("".join(f'#include "{x}"\n' for x in headers), encoding="utf-8")
        self._compile(prefix, self._folder / "prefix.h.gch", "-x", "c++-header")
        return [
            self._compile(source, self._folder / f"{number}.o")
            for number, source in enumerate((joined, *others))
        ]

    def _flags(self) -> list[str]:
        folders = (self._csrc, self._csrc / "generated", include_dir(), contract_dir())
        includes = [f"-I{folder}" for folder in folders]
        return ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", *self._defines, *includes]

    def _compile(self, source: Path, target: Path, *more: str) -> Path:
        compiler = shlex.split(os.environ.get("CXX", "g++"))
        command = [*compiler, *self._flags(), *more, "-c", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.splitlines()[0] if done.stderr else str(source))
        return target

    def _compile_entry(self, mutation: Mutation, folder: Path) -> Path:
        """Compile the mutated operator alone."""
        checked = check(Data(self._library, [mutation.entry]))
        entry = checked.entries[0]
        source = folder / "mutated.cpp"
        text = emit.family_source(checked, entry.entry.family, checked.entries)
        source.write_text(f'#include "prefix.h"\n{text}', encoding="utf-8")
        return self._compile(source, folder / "mutated.o", f"-I{self._folder}")

    def _link(self, changed: Iterable[Path], folder: Path) -> Path:
        objects = map(str, (*changed, *self._originals))
        target = folder / "libmutated.so"
        compiler = shlex.split(os.environ.get("CXX", "g++"))
        # The first definition of an operator is used.
        command = [*compiler, "-shared", "-pthread", "-Wl,-z,muldefs", *objects]
        subprocess.run([*command, "-o", str(target), "-ldl"], check=True, capture_output=True)
        return target

    def _outcomes(self, library: Path, names: Iterable[str], folder: Path) -> dict[str, str]:
        """Return the outcomes of cases; none if the process ends without a report."""
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        cases = [word for name in names for word in ("--case", name)]
        options = ("--sample", self._sample, "--jobs", "1", "--seconds", "20")
        module = [sys.executable, "-m", "dl_conformance", "--library", str(library)]
        command = [*module, *cases, *options, "--json", str(report)]
        subprocess.run(command, env=self._env, capture_output=True, check=False)
        if not report.is_file():
            return {}
        return outcomes_of(json.loads(report.read_text(encoding="utf-8")))


def batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Return parts of a list that fit into a command line."""
    for start in range(0, len(names), MOST_NAMES):
        yield names[start : start + MOST_NAMES]


def outcomes_of(report: dict[str, object]) -> dict[str, str]:
    """Return the outcome of each case of a conformance report."""
    rows = report["cases"]
    assert isinstance(rows, list)
    return {str(row["name"]): str(row["status"]) for row in rows}
