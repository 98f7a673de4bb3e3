"""Runs a command with the tools of this package; each run is a fork or a separate process."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dl_optools.bisect.name_list import COLLECTOR, FOLDER_VARIABLE, read_modules, read_operators
from dl_optools.bisect.runs import BisectError, Outcome, Say, step_folder
from dl_optools.bisect.search import Elements
from dl_optools.bisect.starter import Starter
from dl_optools.breadcrumbs.names import BREADCRUMBS
from dl_optools.breadcrumbs.trail import DEFAULT_HANG, Trail
from dl_optools.launching.launch import (
    DEVICE_VARIABLE,
    LEVEL_VARIABLE,
    TIMED_OUT,
    TOOLS_VARIABLE,
    WHY_NONE,
    complaints,
    exact_patterns,
)
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import Notes
from dl_optools.one_iter.redirection import VARIABLE as STEP_VARIABLE
from dl_optools.outputs import VARIABLE as OUTPUT_VARIABLE


class ProgramRunner:
    """Runs a command; threads may share it.

    :param timeout: seconds after which a run counts as wrong.
    :param hang: seconds after which a single running operator counts as hung.
    :param fork: False: never fork.
    :param say: receives a line with the reason if runs cannot be forked.
    """

    def __init__(
        self,
        command: Sequence[str],
        level: str,
        device: str | None,
        environ: Mapping[str, str],
        timeout: float | None = None,
        *,
        hang: float = DEFAULT_HANG,
        fork: bool = True,
        say: Say = lambda text: None,
    ) -> None:
        self._timeout, self._hang, self._say = timeout, hang, say
        self._command = list(command)
        self._environ = {**environ, LEVEL_VARIABLE: level}
        if device is not None:
            self._environ[DEVICE_VARIABLE] = device
        self._starter = Starter(command, self._environ, timeout, fork=fork, say=say)

    def collect(self, log: Path) -> Outcome:
        """See :class:`.Runner`."""
        names = log.with_suffix(".names")
        for old in names.glob("*.*"):
            old.unlink()
        found = self._run({TOOLS_VARIABLE: COLLECTOR, FOLDER_VARIABLE: str(names)}, log)
        self._starter.preload(read_modules(names), log)
        return replace(found, operators=read_operators(names))

    def run(self, on_device: Elements, log: Path) -> Outcome:
        """See :class:`.Runner`."""
        return self._run(self._falling_back(on_device), log)

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        """See :class:`.Runner`."""
        variables = self._falling_back(operators)
        variables[TOOLS_VARIABLE] += ",capture"
        variables |= {
            "OP_CAPTURE_LIST": exact_patterns(sorted(operators)),
            "OP_CAPTURE_WHEN_FULL": "drop",
            "OP_CAPTURE_DISK": self._environ.get("OP_CAPTURE_DISK", "256M"),
            OUTPUT_VARIABLE: str(directory),
        }
        try:
            self._run(variables, log)
        except BisectError:
            return False
        return any(directory.rglob("bundle.json"))

    def close(self) -> None:
        """End the forking process; a later run starts a new one."""
        self._starter.close()

    @staticmethod
    def _falling_back(on_device: Elements) -> dict[str, str]:
        return {
            TOOLS_VARIABLE: "fallback",
            "OP_FALLBACK_LIST": ".*",
            "OP_FALLBACK_DISABLE_LIST": exact_patterns(sorted(on_device)),
        }

    def _run(self, variables: Mapping[str, str], log: Path) -> Outcome:
        timed_out = False
        step = step_folder(log)
        shutil.rmtree(step, ignore_errors=True)
        with Notes() as notes, Trail(self._hang, self._timeout) as trail:
            variables = {
                **variables,
                **trail.variables,
                TOOLS_VARIABLE: f"{variables[TOOLS_VARIABLE]},{BREADCRUMBS}",
                NOTES_VARIABLE: str(notes.path),
                STEP_VARIABLE: str(step),
            }
            try:
                status = self._starter.start(variables, log, trail.is_stuck)
            except subprocess.TimeoutExpired:
                status, timed_out = TIMED_OUT, True
            except KeyboardInterrupt:
                if (stopped := trail.interrupted()) is not None:
                    self._say(f"the run was {stopped.text()}\n")
                raise
            except OSError as error:
                raise BisectError(f"{self._command[0]}: {error.strerror or error}") from None
            lines = notes.lines()
            dead = trail.dead(status, lines)
        refused = complaints(lines)
        if refused:
            raise BisectError(refused[0])
        if not lines and not timed_out:
            raise BisectError(f"no tool ran in the program. {WHY_NONE} Its output: {log}")
        # A run that is killed at once may not have opened its log.
        output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return Outcome(status, output, timed_out=timed_out, dead=dead)
