"""Calls of a function in a child process that may crash, hang, or spoil memory."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .channel import LARGEST, TOKEN_BYTES, Channel, GarbageError
from .deadline import Deadline
from .guard import WORKER, Ending, guard_command
from .limits import Limits
from .notes import last_note, notes_file
from .outcome import Failure, WorkerError, signal_name
from .processes import Process, below, processes
from .serve import UNANSWERED, Setup
from .tail import Tail

Handler = Callable[[Any], Any]
"""Answers a request; both are sent between processes."""
W = TypeVar("W", bound="Worker")
_START_SECONDS = 300.0
"""Deadline of a start, which may import torch on a busy machine."""
_ENDING_SECONDS = 10.0
_REPORT_SECONDS = 2.0
"""For which the guard is asked how it ended; a worker that only closed its pipes has not."""
_WATCH_SECONDS = 0.5
_KEPT = 1 << 16
"""Bytes of output that are kept at least."""


class Worker:
    """A child process that calls a handler; after each failure the next call starts another one.

    The process is below a guard (:mod:`.guard`), which ends it with all that it started when it
    ends, or when this process does. One thread calls at a time.

    :param build: makes the handler, in the process; pickled.
    :param path: import path of the process, whose environment changes nothing of Python then; None:
        that of this process.
    :param forbids_children: an answer counts only if no process that was started is left.
    :param exits: the interpreter of the process ends as usual, where :meth:`stop` gives it time.
    :param json: answers are JSON: the process may be in the hands of what it runs.
    :param bare: errors whose message is sent without their type.
    :param largest: bytes of a message.
    :param aborts: seconds that the process has, after a call took too long, to end by SIGABRT, at
        which :mod:`faulthandler` writes where it was; 0: it is killed at once.
    :param hear: takes what the process writes to standard output and error, as it comes.
    :ivar output: the end of what the current process, or the last one, wrote.
    """

    def __init__(
        self,
        build: Callable[[], Handler],
        limits: Limits | None = None,
        *,
        env: Mapping[str, str] | None = None,
        path: Sequence[str] | None = None,
        forbids_children: bool = False,
        exits: bool = False,
        json: bool = False,
        bare: tuple[type[Exception], ...] = (),
        largest: int = LARGEST,
        aborts: float = 0.0,
        hear: Callable[[bytes], object] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._first = (build, bare)
        self._setup = Setup(self.limits, json, exits, largest)
        self._env, self._path, self._forbids_children = env, path, forbids_children
        self._aborts, self._hear = aborts, hear
        self._guard: subprocess.Popen[bytes] | None = None
        self._output = Tail(0)
        self._output.close()
        self._notes = -1
        self._number = self.pid = 0

    @property
    def output(self) -> str:
        return self._output.text()

    @property
    def running(self) -> bool:
        """True if the next call needs no new process."""
        return self._guard is not None

    def start(self) -> None:
        """Start the process, unless it runs; :meth:`call` does so, too.

        :raises WorkerError: it does not come to answer.
        :raises OSError: the system starts no process.
        """
        if self._guard is not None:
            return
        ours, theirs = socket.socketpair()
        self._control, far = socket.socketpair()
        self._output, self._notes = Tail(_KEPT), notes_file()
        token = os.urandom(TOKEN_BYTES)
        files = (far.fileno(), theirs.fileno(), self._output.writer, self._notes)
        isolated = ["-I"] if self._path is not None else []
        path = sys.path if self._path is None else self._path
        path = [str(Path(each).absolute()) for each in path]
        self._channel = Channel(ours, token, self._setup.largest)
        if self._setup.json:
            self._channel.decode = json.loads
        self._number = self.pid = 0
        try:
            with theirs, far:
                self._guard = subprocess.Popen(
                    [sys.executable, *isolated, *guard_command(path, WORKER, *files, token.hex())],
                    pass_fds=files,
                    stdin=subprocess.DEVNULL,
                    env=self._env,
                    start_new_session=True,
                )
        except OSError:
            for each in (ours, self._control, self._output):
                each.close()
            os.close(self._notes)
            raise
        self._output.close_writer()
        self._poll = select.poll()
        for file in (ours.fileno(), self._output.reader):
            self._poll.register(file, select.POLLIN)
        with self._failing(_START_SECONDS):
            self._channel.send(self._setup, _START_SECONDS)
            self._channel.send(self._first, _START_SECONDS)
            self.pid = self._receive(0, _START_SECONDS, renews=False)

    def call(self, request: Any, seconds: float, *, renews: bool = False) -> Any:
        """Return the handler's answer.

        :param renews: the deadline is so many seconds after the last note.
        :raises WorkerError: the process ended, raised, was killed after `seconds`, took more than
            its limits, or left processes behind.
        :raises OSError: the system starts no process.
        """
        self.start()
        self._number += 1
        with self._failing(seconds):
            self._channel.send((self._number, request), seconds)
            answer = self._receive(self._number, seconds, renews=renews)
            left = len(self._below()) - 1 if self._forbids_children else 0
            if left > 0:
                what = "a process" if left == 1 else f"{left} processes"
                raise WorkerError(Failure.LEFT_CHILDREN, f"left {what} behind")
        return answer

    def _receive(self, wanted: int, seconds: float, *, renews: bool) -> Any:
        deadline = Deadline(seconds, self._notes if renews else None)
        watch = time.monotonic() + _WATCH_SECONDS if self.limits.watched else float("inf")
        while (message := self._channel.take()) is None:
            now = time.monotonic()
            if now >= watch:
                self.limits.check(self._below())
                watch = now + _WATCH_SECONDS
            for file, _ in self._poll.poll(min(deadline.remaining(now), watch - now) * 1000):
                if file == self._output.reader:
                    self._drain(self._poll)
                    self.limits.check_printed(self._output.count)
                else:
                    self._channel.read()
        try:
            number, succeeded, answer = message[0]
        except (TypeError, ValueError):
            raise GarbageError from None
        if number != wanted:
            raise GarbageError
        if not succeeded:
            lacks = str(answer).startswith("MemoryError")
            raise WorkerError(Failure.OUT_OF_MEMORY if lacks else Failure.RAISED, str(answer))
        return answer

    def _drain(self, poll: select.poll) -> None:
        """Take what was printed."""
        data = self._output.read()
        if data == b"":
            poll.unregister(self._output.reader)
        elif data is not None and self._hear is not None:
            self._hear(data)

    @contextlib.contextmanager
    def _failing(self, seconds: float) -> Iterator[None]:
        """End the process for whatever goes wrong, and say what that was."""
        try:
            yield
        except BaseException as error:
            found = error if isinstance(error, WorkerError) else None
            ending: Ending | bool = False
            if isinstance(error, TimeoutError):
                found = WorkerError(Failure.TIMED_OUT, f"no answer within {seconds:g} s")
                if self._aborts:
                    # The worker itself has said its number, which may be that of any process.
                    for process in self._below():
                        if process.pid == self.pid:
                            os.kill(self.pid, signal.SIGABRT)
                    self._ending(self._aborts)
            elif isinstance(error, GarbageError):
                message = "something else than an answer was written to the worker's pipe"
                found = WorkerError(Failure.GARBAGE, message)
            elif isinstance(error, EOFError | OSError):
                ending = self._ending(_REPORT_SECONDS)
                found = self._ended(ending)
            note = last_note(self._notes)[1]
            self.stop()
            if found is None:
                raise
            found.note, found.output = note, self.output
            found.peak = ending.peak if isinstance(ending, Ending) else 0
            if found is error:
                raise
            raise found from error

    def _ending(self, seconds: float) -> Ending | bool:
        """Return the guard's report of the end; True: the guard has none; False: no end so far."""
        deadline, said = time.monotonic() + seconds, b""
        poll = select.poll()
        for file in (self._control.fileno(), self._output.reader):
            poll.register(file, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            for file, _ in poll.poll(left * 1000):
                if file == self._output.reader:
                    # No limit holds for the last words.
                    self._drain(poll)
                elif data := self._control.recv(1 << 12):
                    said += data
                else:
                    return Ending(**json.loads(said)) if said else True
        return False

    @staticmethod
    def _ended(ending: Ending | bool) -> WorkerError:
        if ending is True:
            return WorkerError(Failure.OVER_LIMIT, "something ended the process that guards it")
        if ending is False:
            return WorkerError(Failure.CLOSED, "the process closed its pipes and ran on")
        code = ending.status
        failure, message = Failure.EXITED, f"the process ended with status {code}"
        if code == UNANSWERED:
            failure, message = Failure.CLOSED, "the process could not answer: its pipes were closed"
        elif code < 0:
            failure, message = Failure.CRASHED, f"the process was ended by {signal_name(-code)}"
        return WorkerError(failure, message, code)

    def _below(self) -> list[Process]:
        return below(self._guard.pid) if self._guard is not None else []

    def kill(self) -> None:
        """End the process from another thread: the call that it is in fails."""
        if self._guard is not None:
            with contextlib.suppress(OSError):
                # The guard takes it for the end of this process.
                self._control.shutdown(socket.SHUT_WR)

    def stop(self, seconds: float = 0.0) -> None:
        """End the process and all that it started; a later call starts another one.

        :param seconds: that it has to end by itself, as there are no more requests.
        """
        guard, self._guard = self._guard, None
        if guard is not None:
            self._channel.socket.close()
            self._ending(seconds)
            self._control.close()
            self._wait_for(guard)
            with contextlib.suppress(OSError):
                while self._output.read():
                    pass
            os.close(self._notes)
        self._output.close()

    def _wait_for(self, guard: subprocess.Popen[bytes]) -> None:
        try:
            guard.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        if self.pid and guard.returncode != 0:
            # The guard itself was lost; what is left of the worker's session is known still.
            for process in processes():
                if process.session == self.pid:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(process.pid, signal.SIGKILL)

    def __enter__(self: W) -> W:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
