"""Which operators make a run wrong: all but some fall back to the CPU, again and again."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from dl_optools.bisect.name_list import COLLECTOR, FOLDER_VARIABLE, collected
from dl_optools.bisect.search import Elements, Found, search
from dl_optools.bisect.state import Run, State
from dl_optools.bisect.verdict import Criteria
from dl_optools.launching.launch import (
    DEVICE_VARIABLE,
    LEVEL_VARIABLE,
    TOOLS_VARIABLE,
    WHY_NONE,
    complaints,
    exact,
    run_program,
)
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import Notes
from dl_optools.outputs import VARIABLE as OUTPUT_VARIABLE

Say = Callable[[str], object]
TIMED_OUT = 124
"""Exit status of a run that took too long, as ``timeout`` has it."""


class BisectError(RuntimeError):
    """There is nothing to search for, or the runs do not tell."""


@dataclass(frozen=True)
class Outcome:
    """What one run left behind.

    :ivar output: all that the program printed.
    :ivar operators: that it used, in order; only of the run that collects them.
    :ivar timed_out: it was killed after too long a time.
    """

    status: int
    output: str
    operators: Sequence[str] = ()
    timed_out: bool = False


class Runner(Protocol):
    """Runs the program."""

    def collect(self, log: Path) -> Outcome:
        """As it is, and note its operators."""

    def run(self, on_device: Elements, log: Path) -> Outcome:
        """With all operators on the CPU but these."""

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        """Write their calls as bundles, the others on the CPU; False where it cannot be done."""


class ProgramRunner:
    """Runs a command with the tools of this package.

    :param timeout: seconds after which a run counts as wrong.
    """

    def __init__(
        self,
        command: Sequence[str],
        level: str,
        device: str | None,
        environ: Mapping[str, str],
        timeout: float | None = None,
    ) -> None:
        self._command = list(command)
        self._timeout = timeout
        self._environ = {**environ, LEVEL_VARIABLE: level}
        if device is not None:
            self._environ[DEVICE_VARIABLE] = device

    def collect(self, log: Path) -> Outcome:
        names = log.with_suffix(".names")
        for old in names.glob("*.txt"):
            old.unlink()
        found = self._run({TOOLS_VARIABLE: COLLECTOR, FOLDER_VARIABLE: str(names)}, log)
        return replace(found, operators=collected(names))

    def run(self, on_device: Elements, log: Path) -> Outcome:
        return self._run(self._falling_back(on_device), log)

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        variables = self._falling_back(operators)
        variables[TOOLS_VARIABLE] += ",capture"
        variables |= {
            "OP_CAPTURE_LIST": exact(sorted(operators)),
            "OP_CAPTURE_WHEN_FULL": "drop",
            "OP_CAPTURE_DISK": self._environ.get("OP_CAPTURE_DISK", "256M"),
            OUTPUT_VARIABLE: str(directory),
        }
        try:
            self._run(variables, log)
        except BisectError:
            return False
        return any(directory.rglob("bundle.json"))

    @staticmethod
    def _falling_back(on_device: Elements) -> dict[str, str]:
        return {
            TOOLS_VARIABLE: "fallback",
            "OP_FALLBACK_LIST": ".*",
            "OP_FALLBACK_DISABLE_LIST": exact(sorted(on_device)),
        }

    def _run(self, variables: Mapping[str, str], log: Path) -> Outcome:
        timed_out = False
        with Notes() as notes, log.open("wb") as file:
            environ = {**self._environ, NOTES_VARIABLE: str(notes.path), **variables}
            try:
                status = run_program(self._command, environ, file, self._timeout)
            except subprocess.TimeoutExpired:
                status, timed_out = TIMED_OUT, True
            except OSError as error:
                raise BisectError(f"{self._command[0]}: {error.strerror or error}") from None
            lines = notes.lines()
        refused = complaints(lines)
        if refused:
            raise BisectError(refused[0])
        if not lines and not timed_out:
            raise BisectError(f"no tool ran in the program. {WHY_NONE} Its output: {log}")
        output = log.read_text(encoding="utf-8", errors="replace")
        return Outcome(status, output, timed_out=timed_out)


class Bisection:
    """One search, which continues what its state knows already.

    :param path: of the state's file.
    :param say: takes a line about each run.
    """

    def __init__(self, state: State, path: Path, runner: Runner, say: Say) -> None:
        self.state = state
        self.path = path
        self._runner = runner
        self._say = say
        self._criteria = Criteria.of(state.criteria)
        self._reference: float | None = None

    def find(self) -> Found:
        """Search to the end.

        :raises BisectError: the program is not wrong, or is so with all operators on the CPU, too.
        """
        state = self.state
        # The program as it is comes first: it tells which operators there are.
        as_it_is = state.find(None) or self._new(None)
        if not state.operators:
            raise BisectError(
                "the program called no operator on the device that tools look at; --device names "
                f"another one. Its output: {as_it_is.log}"
            )
        none = self._run([])
        if none.complaint:
            raise BisectError(
                f"with all operators on the CPU it is wrong, too: {none.complaint}. Operators are "
                f"not to blame, or were not met. Its output: {none.log}"
            )
        self._reference = none.metric
        if not self._wrong(as_it_is):
            measured = self._criteria.measured(as_it_is.metric, none.metric)
            raise BisectError(
                "the unchanged program is not wrong: there is nothing to search for" + measured
            )
        places = {name: at for at, name in enumerate(state.operators)}
        everything = frozenset(state.operators)

        def test(on_device: Elements) -> bool:
            if on_device == everything:
                return True
            return self._wrong(self._run(sorted(places[name] for name in on_device)))

        found = search(state.operators, test)
        state.verdict = [list(group) for group in found.groups]
        state.save(self.path)
        return found

    def why(self, group: Sequence[str]) -> str:
        """What is wrong where these operators alone are on the device."""
        run = self.state.find([self.state.operators.index(name) for name in group])
        # All of them together are the program as it is.
        run = run or self.state.find(None)
        assert run is not None
        return run.complaint or self._criteria.distance(run.metric, self._reference)

    def capture(self) -> Path | None:
        """Write the calls of the guilty operators, with all others on the CPU; None: no bundles."""
        guilty = frozenset(name for group in self.state.verdict or [] for name in group)
        folder = Path(self.state.directory) / "bundles"
        log = Path(self.state.directory) / "capture.log"
        return folder if guilty and self._runner.capture(guilty, folder, log) else None

    def _run(self, on_device: list[int]) -> Run:
        return self.state.find(on_device) or self._new(on_device)

    def _wrong(self, run: Run) -> bool:
        # The first run had nothing to be compared with yet.
        return bool(run.complaint or self._criteria.distance(run.metric, self._reference))

    def _new(self, on_device: list[int] | None) -> Run:
        state = self.state
        number = len(state.runs) + 1
        log = Path(state.directory) / f"run_{number:03d}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        if on_device is None:
            outcome = self._runner.collect(log)
            state.operators = list(outcome.operators)
        else:
            names = frozenset(state.operators[at] for at in on_device)
            outcome = self._runner.run(names, log)
        complaint = self._criteria.complaint(outcome.status, outcome.output, self._reference)
        if outcome.timed_out:
            complaint = "it took too long and was killed"
        run = Run(
            on_device,
            outcome.status,
            complaint,
            self._criteria.number(outcome.output),
            round(time.monotonic() - begun, 3),
            os.fspath(log),
        )
        state.runs.append(run)
        state.save(self.path)
        where = (
            "as it is"
            if on_device is None
            else f"{len(on_device)} of {len(state.operators)} operators on the device"
        )
        verdict = f"wrong, {complaint}" if complaint else "right"
        if run.metric is not None and on_device is None and not complaint:
            verdict = f"the metric is {run.metric:.9g}"
        self._say(f"run {number}: {where}: {verdict}\n")
        return run
