"""A process that does what may crash, hang, or spoil memory; whatever it does is an answer here."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from ..errors import TuningError
from .channel import TOKEN_BYTES, Channel, GarbageError
from .guard import Ending
from .limits import Limits, enough_to_start, mebibytes
from .processes import Process, below, processes
from .serve import UNANSWERED, Handler

_START_SECONDS = 120.0
_ENDING_SECONDS = 10.0
_REPORT_SECONDS = 2.0
"""For which the guard is asked how it ended; a worker that only closed its pipes has not."""
_NEARLY = 0.8
"""Share of the memory limit above which a crash is blamed on memory."""


class WorkerError(TuningError):
    """The process did not answer.

    :ivar reason: "timeout", "crash", "limit", "children" or "error".
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def _lacks_memory(error: WorkerError) -> bool:
    """Return True if a worker may have failed to start for lack of memory."""
    words = ("MemoryError", "allocate memory", "map segment")
    return error.reason != "error" or any(word in str(error) for word in words)


class Worker:
    """Calls a handler in a process of its own; a new one after each failure.

    The process is below a guard (:mod:`.guard`), which ends it with all that it started when it
    ends, when this process does, or when it takes more than it may.

    :param build: makes the handler, in the process; importable there.
    :param may_leave_children: whether what it started may run on after an answer, as the server of
        a compiler's cache does; else such an answer does not count.
    """

    def __init__(
        self,
        build: Callable[[], Handler],
        limits: Limits | None = None,
        *,
        may_leave_children: bool = False,
    ) -> None:
        self._build, self._limits = build, limits or Limits()
        self._may_leave_children = may_leave_children
        self._guard: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._control: socket.socket | None = None
        self._worker = self._number = 0

    def call(self, request: Any, seconds: float) -> Any:
        """The handler's answer.

        :raises WorkerError: the process ended, raised, was killed after `seconds`, took more than
            its limits, or left processes behind.
        """
        channel = self._channel or self._start()
        self._number += 1
        with self._failing(seconds):
            channel.send((self._number, request), seconds)
            number, succeeded, answer = channel.receive(seconds, self._watch)
            if number != self._number:
                raise GarbageError
            if not succeeded:
                raise WorkerError("error", answer)
            left = len(self._below()) - 1
            if left > 0 and not self._may_leave_children:
                what = "a process" if left == 1 else f"{left} processes"
                raise WorkerError("children", f"left {what} behind")
        return answer

    @contextlib.contextmanager
    def _failing(self, seconds: float) -> Iterator[None]:
        """End the process for whatever goes wrong, and say what it was."""
        try:
            yield
        except BaseException as error:
            ending = None
            if isinstance(error, EOFError | OSError) and not isinstance(error, TimeoutError):
                ending = self._ending()
            self.stop()
            if isinstance(error, TimeoutError):
                raise WorkerError("timeout", f"no answer within {seconds:g} s") from error
            if isinstance(error, GarbageError | ValueError):
                message = "something else than an answer was written to the worker's pipe"
                raise WorkerError("crash", message) from error
            if isinstance(error, EOFError | OSError):
                reason = "limit" if ending and ending.too_much else "crash"
                raise WorkerError(reason, self._describe(ending)) from error
            raise

    def _start(self) -> Channel:
        ours, theirs = socket.socketpair()
        self._control, far = socket.socketpair()
        token = secrets.token_bytes(TOKEN_BYTES)
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\nfrom {__package__}.guard import main; main()"
        )
        files = (theirs.fileno(), far.fileno())
        with theirs, far:
            self._guard = subprocess.Popen(
                [
                    *(sys.executable, "-c", code, *map(str, files), token.hex()),
                    json.dumps(asdict(self._limits)),
                ],
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._channel = Channel(ours, token)
        try:
            with self._failing(_START_SECONDS):
                self._channel.send(self._build, _START_SECONDS)
                succeeded, answer = self._channel.receive(_START_SECONDS)
                if not succeeded:
                    raise WorkerError("error", answer)
                self._worker = answer
                return self._channel
        except WorkerError as error:
            allowed, enough = self._limits.allowed, enough_to_start()
            if self._limits.memory >= enough or not _lacks_memory(error):
                raise
            raise WorkerError(
                "limit",
                f"a worker did not start within {allowed} of memory: give it {mebibytes(enough)},"
                f" as --memory {enough >> 20} does, or more ({error})",
            ) from error

    def _below(self) -> list[Process]:
        guard = self._guard
        return below(guard.pid) if guard is not None else []

    def _watch(self) -> None:
        if too_much := self._limits.exceeded(self._below()):
            raise WorkerError("limit", too_much)

    def _ending(self) -> Ending | None:
        """Return the guard's report of the end; None if the process has not ended."""
        control, said = self._control, b""
        if control is None:
            return None
        control.settimeout(_REPORT_SECONDS)
        try:
            while data := control.recv(1 << 16):
                said += data
        except OSError:
            return None
        if not said:
            return Ending(0, 0, too_much="something ended the process that guards the worker")
        return Ending(**json.loads(said))

    def _describe(self, ending: Ending | None) -> str:
        if ending is None:
            return "the process closed its pipes and ran on"
        if ending.too_much:
            return ending.too_much
        code = os.waitstatus_to_exitcode(ending.status)
        if code == UNANSWERED:
            return "the process could not answer: its pipes were closed"
        told = f"the process ended with status {code}"
        if code < 0:
            told = f"the process was ended by {signal.Signals(-code).name}"
        if ending.peak > _NEARLY * self._limits.memory:
            told += f", with {mebibytes(ending.peak)} of memory of {self._limits.allowed} allowed"
        if ending.said:
            told += f": {ending.said.splitlines()[-1]}"
        return told

    def stop(self) -> None:
        """End the process and all that it started."""
        guard, self._guard = self._guard, None
        for each in (self._channel, self._control):
            if each is not None:
                each.close()
        self._channel = self._control = None
        if guard is None:
            return
        try:
            guard.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        if self._worker and guard.returncode != 0:
            # The guard itself was lost; what is left of the worker's session is known still.
            for process in processes():
                if process.session == self._worker:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(process.pid, signal.SIGKILL)
        self._worker = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
