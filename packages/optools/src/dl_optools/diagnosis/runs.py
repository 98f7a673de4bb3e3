"""Runs of a program under tools, and the reports of its processes. Imports no torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dl_optools.bisect.starter import Starter
from dl_optools.breadcrumbs.names import BREADCRUMBS
from dl_optools.breadcrumbs.trail import DEFAULT_HANG, DeadOperator, Trail
from dl_optools.diagnosis.names import GRAPHS, PROBE
from dl_optools.launching.launch import TIMED_OUT, TOOLS_VARIABLE, complaints, describe_lost
from dl_optools.launching.lifetime import exit_status
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import Notes
from dl_optools.launching.reports import Report, reports_of
from dl_optools.outputs import VARIABLE as OUTPUT_VARIABLE


@dataclass(frozen=True)
class Run:
    """One run of the program.

    :ivar problems: messages of tools that could not run, or lost results.
    :ivar dead: the operator in which a process died or hung; None if none did.
    :ivar raised: the last operator that raised an error, with its arguments; empty if none did.
    """

    status: int
    output: str
    log: Path
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dead: DeadOperator | None = None
    raised: str = ""

    @property
    def lost(self) -> str:
        """Describe processes that ended before their tools had a result; empty without any."""
        return describe_lost(self.notes)

    def reports(self, tool: str) -> list[Report]:
        """Return a tool's reports from the processes that called operators."""
        found = reports_of(self.notes, tool)
        return [x for x in found if x.found["calls"]]


class Runner:
    """Runs one program, until the user stops it by Ctrl-C or SIGTERM.

    :ivar stopped: exit status after the user has stopped the runs; 0: they were not stopped.
    :param folder: folder for logs and results.
    :param timeout: seconds after which a run is killed; None: never.
    :param hang: seconds after which a run is killed if one operator is still running.
    :param starter: starter of runs, which the caller closes; None: create one.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        folder: Path,
        timeout: float | None,
        hang: float = DEFAULT_HANG,
        starter: Starter | None = None,
    ) -> None:
        self.command = list(command)
        self.environ = dict(environ)
        self.folder = folder
        self.timeout = timeout
        self.stopped = 0
        self._count = 0
        self.hang = hang
        self._owned = starter is None
        self._starter = starter or Starter(command, environ, timeout)

    def run(self, tools: str, **variables: str) -> Run:
        """Run the program to its end, or until it is stopped.

        :raises OSError: the program does not exist, or its log cannot be written.
        """
        self._count += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / f"run_{self._count}.log"
        with Notes() as notes, Trail(self.hang, self.timeout) as trail:
            environ = {
                # A starter that runners share does not have the variables of each.
                **({} if self._owned else self.environ),
                **trail.variables,
                # The graph check records breadcrumbs itself: torch compiles nothing while a tool
                # observes single operators.
                TOOLS_VARIABLE: (
                    tools if tools == GRAPHS else ",".join(filter(None, (tools, BREADCRUMBS)))
                ),
                NOTES_VARIABLE: str(notes.path),
                OUTPUT_VARIABLE: str(self.folder),
                **variables,
            }
            try:
                status = self.stopped or self._starter.start(environ, log, trail.is_stuck)
            except subprocess.TimeoutExpired:
                status = TIMED_OUT
            except KeyboardInterrupt as stopped:
                self.stopped = status = exit_status(stopped)
            lines = notes.lines()
            dead = trail.interrupted() if self.stopped else trail.dead(status, lines)
            raised = trail.last_raised()
        self._preload(lines, log)
        output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return Run(status, output, log, complaints(lines), lines, dead, raised)

    def _preload(self, lines: Sequence[str], log: Path) -> None:
        """Import what a run imported before further runs are forked, unless the user stops it."""
        try:
            for each in reports_of(lines, PROBE):
                if not self.stopped:
                    self._starter.preload(each.found["imported"], log)
        except KeyboardInterrupt as stopped:
            self.stopped = exit_status(stopped)

    def close(self) -> None:
        """Close the starter of runs."""
        if self._owned:
            self._starter.close()

    def dl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a ``dl`` command with the program's environment."""
        command = [sys.executable, "-m", "dl_core.cli", *arguments]
        try:
            if not self.stopped:
                return subprocess.run(
                    command, env=self.environ, capture_output=True, text=True, timeout=600
                )
        except KeyboardInterrupt as stopped:
            self.stopped = exit_status(stopped)
        return subprocess.CompletedProcess(command, self.stopped, "", "")


def merged_counts(reports: Sequence[Report], key: str) -> dict[str, int]:
    """Return a dictionary of counts, summed over processes."""
    found: dict[str, int] = {}
    for each in reports:
        counts: dict[str, Any] = each.found[key]
        for name, count in counts.items():
            found[name] = found.get(name, 0) + int(count)
    return found
