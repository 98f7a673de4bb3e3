"""Operator that a run was in when one of its processes died or hung. Imports no torch."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import Self

from diopi_proto.text import printable
from dl_optools.breadcrumbs.crumb_file import LEFT, RAISED, Crumb, crumbs_of, running
from dl_optools.breadcrumbs.names import FATAL_SUFFIX, FOLDER_VARIABLE
from dl_optools.launching.launch import TIMED_OUT, unfinished_processes
from dl_optools.launching.lifetime import describe_status

DEFAULT_HANG = 600.0
"""Seconds after which an operator that still runs counts as hung."""
LONG = 5.0
"""Seconds that an operator must have been running to be named when a run is stopped."""
_CURRENT = re.compile(r"^Current thread 0x([0-9a-f]+)", re.MULTILINE)
_COLLECTIVE = re.compile(r"(c10d|_c10d_functional|_dtensor|symm_mem)\.")
"""Collectives, which wait for other processes."""
_FROM_OUTSIDE = {128 + x for x in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
"""Exit statuses after a signal from another process, or after SIGKILL because memory is short."""


@dataclass(frozen=True)
class DeadOperator:
    """An operator that did not return.

    :ivar how: how the process ended: ``killed by SIGSEGV``.
    """

    crumb: Crumb
    how: str

    @property
    def name(self) -> str:
        return self.crumb.name

    def text(self) -> str:
        """Return what happened, without a subject: ``killed by SIGSEGV while aten.mm… ran``."""
        return f"{self.how} while {printable(self.crumb.text)} ran"


class Trail:
    """Records of the operators that the processes of one run were in; a context manager.

    :param hang: seconds after which an operator counts as hung.
    :param timeout: seconds after which the run is killed; None: never.
    :ivar variables: environment variables for the run.
    """

    def __init__(self, hang: float = DEFAULT_HANG, timeout: float | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="dl-breadcrumbs-"))
        self.variables = {FOLDER_VARIABLE: str(self._folder)}
        self._hang = hang
        self._least = min(LONG, hang, hang if timeout is None else timeout / 2)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def is_stuck(self) -> bool:
        """Return True if an operator has hung, so that the run should be stopped."""
        return any(
            crumb.seconds > self._hang and not _COLLECTIVE.match(crumb.name)
            for crumb in running(self._folder)
        )

    def dead(self, status: int, notes: Sequence[str]) -> DeadOperator | None:
        """Return the operator in which the run died or hung; None if there was none.

        Call it as soon as the run has ended: running times are measured up to this call.

        :param status: exit status of the run; :data:`TIMED_OUT`: it was killed because it took too
            long, or because it was stuck.
        :param notes: notes of the run.
        """
        if status == TIMED_OUT:
            return next(self._stuck(), None)
        lost = set(unfinished_processes(notes))
        crashed: list[DeadOperator] = []
        ended: list[DeadOperator] = []
        for crumb in running(self._folder, LEFT):
            if crumb.state == LEFT:
                if status not in _FROM_OUTSIDE and not _COLLECTIVE.match(crumb.name):
                    ended.append(DeadOperator(crumb, "ended by sys.exit or os._exit"))
                continue
            thread = self._fatal_thread(crumb.process)
            if thread is not None:
                # The signal was raised in one thread; operators in other threads are not to blame.
                if thread == crumb.thread:
                    crashed.append(DeadOperator(crumb, self._how(crumb.process, status)))
            elif crumb.process in lost and status not in _FROM_OUTSIDE:
                ended.append(DeadOperator(crumb, _ended(status)))
        # A launcher kills the other ranks after one rank has crashed.
        found = crashed or ended
        names = {each.name for each in found}
        return found[0] if len(names) == 1 else None

    def interrupted(self) -> DeadOperator | None:
        """Return the operator that had run for long when the run was stopped from outside."""
        return next(self._stuck(), None)

    def _stuck(self) -> Iterator[DeadOperator]:
        for crumb in running(self._folder):
            seconds = crumb.seconds
            if seconds >= self._least and not _COLLECTIVE.match(crumb.name):
                yield DeadOperator(crumb, f"stopped after {seconds:.0f} s")

    def last_raised(self) -> str:
        """Return the last operator that raised an error, with its arguments; empty if none did."""
        return next((printable(x.text) for x in crumbs_of(self._folder) if x.state == RAISED), "")

    def _fatal_thread(self, process: int) -> int | None:
        """Return the thread whose signal ended a process; 0: native thread; None: no signal."""
        text = self._fatal(process)
        if not text:
            return None
        match = _CURRENT.search(text)
        return int(match[1], 16) if match else 0

    def _fatal(self, process: int) -> str:
        try:
            return (self._folder / f"{process}{FATAL_SUFFIX}").read_text(errors="replace")
        except OSError:
            return ""

    def _how(self, process: int, status: int) -> str:
        if status > 128:
            return describe_status(status)
        # A child process died, and the program itself ended in another way.
        cause = self._fatal(process).partition("\n")[0].removeprefix("Fatal Python error: ")
        return f"process {process} was killed ({cause})"


def _ended(status: int) -> str:
    if status > 128:
        return describe_status(status)
    return f"ended with {describe_status(status)}{'' if status else ' in native code'}"
