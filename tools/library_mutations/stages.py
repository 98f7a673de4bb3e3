"""The stages that can reject a mutation."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir
from dl_vendor_kit.library import emit
from dl_vendor_kit.library.check import Checked, check
from dl_vendor_kit.library.model import Data, Library

from .mutations import Mutation


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


class Conformance:
    """The conformance suite on the vendor's sources with the mutated operator.

    :param scratch: existing folder for objects, libraries and reports; the caller removes it.
    """

    name = "conformance"

    def __init__(
        self,
        library: Library,
        csrc: Path,
        defines: Sequence[str],
        fakes: Path | None,
        sample: str,
        scratch: Path,
    ) -> None:
        self._library = library
        self._csrc = csrc.resolve()
        self._defines = [f"-D{x}" for x in defines]
        self._sample = sample
        self._env = dict(os.environ)
        if fakes is not None:
            paths = (str(fakes.resolve()), os.environ.get("LD_LIBRARY_PATH", ""))
            self._env["LD_LIBRARY_PATH"] = os.pathsep.join(x for x in paths if x)
        self._folder = scratch
        # A vendor may also look for them next to its own library.
        for library_file in [] if fakes is None else fakes.glob("*.so"):
            (self._folder / library_file.name).symlink_to(library_file.resolve())
        self._objects = {
            source: self._compile(source, f"{number}.o")
            for number, source in enumerate(sorted(self._csrc.rglob("*.cpp")))
        }
        self._expected: dict[str, dict[str, str]] = {}

    def __call__(self, mutation: Mutation) -> str:
        operator = mutation.entry.name
        if operator not in self._expected:
            self._expected[operator] = self._outcomes(self._link({}), operator)
        expected = self._expected[operator]
        if not any(outcome == "passed" for outcome in expected.values()):
            return ""
        checked = check(Data(self._library, [mutation.entry]))
        try:
            mutated = self._compile_entry(checked)
        except RuntimeError as error:
            return f"the compiler refuses it: {error}"
        found = self._outcomes(self._link(mutated), operator)
        worse = [
            case for case, outcome in expected.items() if outcome == "passed" != found.get(case)
        ]
        if not worse:
            return ""
        return f"{len(worse)} cases no longer pass, such as {worse[0]}: {found.get(worse[0])}"

    def _flags(self) -> list[str]:
        folders = (self._csrc, include_dir(), contract_dir())
        includes = [f"-I{folder}" for folder in folders]
        return ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", *self._defines, *includes]

    def _compile(self, source: Path, name: str, *more: str) -> Path:
        target = self._folder / name
        compiler = shlex.split(os.environ.get("CXX", "g++"))
        command = [*compiler, *self._flags(), *more, "-c", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.splitlines()[0] if done.stderr else str(source))
        return target

    def _compile_entry(self, checked: Checked) -> dict[str, Path]:
        """Compile its family with the mutated operator in place of the original one."""
        entry = checked.entries[0]
        generated = self._csrc / "generated"
        text = emit.family_source(checked, entry.entry.family, checked.entries)
        name = entry.operator.name
        source = generated / f"{entry.entry.family}.gen.cpp"
        whole = source.read_text(encoding="utf-8")
        start, end = _bounds(whole, name)
        mine = text[slice(*_bounds(text, name))]
        changed = self._folder / "mutated.cpp"
        changed.write_text(whole[:start] + mine + whole[end:], encoding="utf-8")
        # Quoted includes are next to the original.
        return {str(source): self._compile(changed, "mutated.o", f"-I{generated}")}

    def _link(self, changed: dict[str, Path]) -> Path:
        objects = [str(changed.get(str(x), made)) for x, made in self._objects.items()]
        target = self._folder / "libmutated.so"
        compiler = shlex.split(os.environ.get("CXX", "g++"))
        command = [*compiler, "-shared", "-pthread", *objects, "-o", str(target), "-ldl"]
        subprocess.run(command, check=True, capture_output=True)
        return target

    def _outcomes(self, library: Path, operator: str) -> dict[str, str]:
        report = self._folder / "report.json"
        report.unlink(missing_ok=True)
        options = ("--fname", operator, "--sample", self._sample, "--jobs", "1", "--seconds", "20")
        module = [sys.executable, "-m", "dl_conformance", "--library", str(library)]
        command = [*module, *options, "--json", str(report)]
        subprocess.run(command, env=self._env, capture_output=True, check=False)
        if not report.is_file():
            return {}
        return outcomes_of(json.loads(report.read_text(encoding="utf-8")))


def outcomes_of(report: dict[str, object]) -> dict[str, str]:
    """Return the outcome of each case of a conformance report."""
    rows = report["cases"]
    assert isinstance(rows, list)
    return {str(row["name"]): str(row["status"]) for row in rows}


def _bounds(text: str, operator: str) -> tuple[int, int]:
    """Return where the function of an operator begins and ends in generated code."""
    start = text.index(f"diopiError_t {operator}(")
    end = text.find("\n}\n", start) + 3
    return start, end
