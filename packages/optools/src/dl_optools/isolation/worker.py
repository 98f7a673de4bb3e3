"""Parent's side of the isolation: a child process that handles requests. Imports no torch."""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Sequence
from typing import Any

from diopi_proto import worker
from diopi_proto.text import printable, write_error
from diopi_proto.worker import Failure, signal_name
from dl_optools.environment import environment
from dl_optools.isolation.answer import WRONG, Answer
from dl_optools.isolation.child import Bundles
from dl_optools.isolation.limits import Limits

_STARTING = 300.0
"""Timeout in seconds for importing torch and opening the device."""
_LONGEST = 1 << 26
"""Maximum length of an answer in bytes."""
_LONGEST_LINE = 1 << 14
_MOST_SAID = 200
"""Maximum number of lines that a child may write to standard error."""


class UnusableError(Exception):
    """No child process is usable: it does not start, or the device is not available."""


class Worker:
    """Handles requests in a child process, which is replaced when it ends.

    :param device: device to use; None: no device; ``""``: the accelerator, or else the CPU.
    :param name: name of the command, for errors.
    :param imports: modules that the work uses, imported before the limits apply.
    :param writes: the work may write files.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        device: str | None = None,
        name: str = "dl",
        imports: Sequence[str] = (),
        writes: bool = False,
    ) -> None:
        self.limits = limits
        self._worker = worker.Worker(
            functools.partial(Bundles, limits, device, name, [*imports], writes),
            # Each arena of malloc reserves address space that is never used.
            env={"MALLOC_ARENA_MAX": "2", **environment()},
            path=[place for place in sys.path if place],
            json=True,
            largest=_LONGEST,
            hear=self._pass_on,
        )
        self._line, self._lines = b"", 0

    def ask(self, work: str, path: str, **arguments: Any) -> Answer:
        """Do the work on one bundle in the child. If the child ends, the answer says so.

        :raises UnusableError: no child can be started.
        """
        self.start()
        try:
            found = self._worker.call((work, {"path": path, **arguments}), self.limits.seconds)
            return Answer.read(found)
        except worker.WorkerError as error:
            how = self._describe(error)
        except ValueError as error:
            self.close()
            how = f"it gives no answer: {error}"
        return Answer(lines=[f"{path}: {how}"], code=WRONG)

    def start(self) -> None:
        """Start the child, unless it runs.

        :raises UnusableError: it does not start, or the device is not available.
        """
        if self._worker.running:
            return
        self._line, self._lines = b"", 0
        try:
            problem = str(self._worker.call(None, _STARTING))
        except worker.WorkerError as error:
            how = self._describe(error)
            problem = f"the process that reads bundles cannot be used: {how}"
        if problem:
            self.close()
            raise UnusableError(problem)

    def close(self) -> None:
        self._worker.stop()

    def _describe(self, error: worker.WorkerError) -> str:
        """Describe how the child ended."""
        at = printable(error.note or "it was starting")[:300]
        if error.failure is Failure.TIMED_OUT:
            return f"it takes longer than {self.limits.seconds:g} s (--timeout), while {at}"
        if error.signal == signal.SIGXCPU:
            return f"it used up its processor time (--timeout), while {at}"
        if error.signal:
            return f"it crashed with {signal_name(error.signal)} while {at}"
        if error.status is None:
            return f"it gives no answer: {printable(str(error))[:300]}, while {at}"
        said = error.output.strip().splitlines()
        last = f": {printable(said[-1])[:2000]}" if said else ""
        return f"it ended with exit status {error.status} while {at}{last}"

    def _pass_on(self, data: bytes) -> None:
        """Forward the child's output, up to a limit."""
        *lines, self._line = (self._line + data).split(b"\n")
        self._line = self._line[-_LONGEST_LINE:]
        for line in lines[: max(0, _MOST_SAID - self._lines)]:
            write_error(f"{printable(line.decode(errors='replace').rstrip())[:2000]}\n")
        self._lines += len(lines)
