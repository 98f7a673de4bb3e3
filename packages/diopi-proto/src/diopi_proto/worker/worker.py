"""Calls of a function in a child process that may crash, hang, or corrupt its memory."""

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
"""Function that answers a request; requests and answers are sent between processes."""
W = TypeVar("W", bound="Worker")
_START_SECONDS = 300.0
"""Deadline in seconds for a start, which may import torch on a busy machine."""
_ENDING_SECONDS = 10.0
_REPORT_SECONDS = 2.0
"""Seconds to wait for the guard's report of the end; a worker that only closed its pipes has not
ended."""
_WATCH_SECONDS = 0.5
_KEPT = 1 << 16
"""Minimum number of bytes of output that are kept."""


class Worker:
    """A child process that calls a handler; after a failure, the next call starts a new process.

    A guard process (:mod:`.guard`) is its parent. The guard ends the child and everything that it
    started, when the child ends or when this process does. Only one thread may call at a time.

    :param build: function that creates the handler in the child; it is pickled.
    :param path: import path of the child, which then ignores Python's environment variables; None:
        that of this process.
    :param forbids_children: reject an answer if a process that the child started is still running.
    :param exits: end the child's interpreter normally if :meth:`stop` gives it time.
    :param json: encode answers as JSON, because the child may run untrusted code.
    :param bare: exception types whose message is sent without the name of the type.
    :param largest: maximum size of a message in bytes.
    :param aborts: seconds for the child to end by SIGABRT after a call timed out, so that
        :mod:`faulthandler` can write its stack; 0: kill it at once.
    :param hear: function that receives the child's standard output and error as it arrives.
    :ivar output: end of the output of the current process, or of the last one.
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
        """Start the process, unless it is running; :meth:`call` does so as well.

        :raises WorkerError: the process did not become ready.
        :raises OSError: the process cannot be started.
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

        :param seconds: deadline; the time in which the process waits for a processor is added.
        :param renews: each note of the worker restarts the deadline of `seconds`.
        :raises WorkerError: the process ended, raised an exception, was killed after `seconds`,
            exceeded its limits, or left processes behind.
        :raises OSError: the process cannot be started.
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
        deadline = Deadline(seconds, self._notes if renews else None, self.pid)
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
        """Read the available output."""
        data = self._output.read()
        if data == b"":
            poll.unregister(self._output.reader)
        elif data is not None and self._hear is not None:
            self._hear(data)

    @contextlib.contextmanager
    def _failing(self, seconds: float) -> Iterator[None]:
        """End the process after any error, and raise an exception that describes the error."""
        try:
            yield
        except BaseException as error:
            found = error if isinstance(error, WorkerError) else None
            ending: Ending | bool = False
            if isinstance(error, TimeoutError):
                found = WorkerError(Failure.TIMED_OUT, f"no answer within {seconds:g} s")
                if self._aborts:
                    # The worker itself has reported this process id, which may belong to any
                    # process.
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
        """Return the guard's report of the end. True: the guard has no report. False: it has not
        ended."""
        deadline, said = time.monotonic() + seconds, b""
        poll = select.poll()
        for file in (self._control.fileno(), self._output.reader):
            poll.register(file, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            for file, _ in poll.poll(left * 1000):
                if file == self._output.reader:
                    # No limit applies to the last output.
                    self._drain(poll)
                elif data := self._control.recv(1 << 12):
                    said += data
                else:
                    return Ending(**json.loads(said)) if said else True
        return False

    @staticmethod
    def _ended(ending: Ending | bool) -> WorkerError:
        if ending is True:
            return WorkerError(Failure.OVER_LIMIT, "its guard process was killed")
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
        """End the process from another thread; the running call fails."""
        if self._guard is not None:
            with contextlib.suppress(OSError):
                # The guard takes this for the end of this process.
                self._control.shutdown(socket.SHUT_WR)

    def stop(self, seconds: float = 0.0) -> None:
        """End the process and everything that it started; a later call starts a new process.

        :param seconds: time for the process to end by itself after its requests have ended.
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
            # The guard itself was killed; the rest of the worker's session is still known.
            for process in processes():
                if process.session == self.pid:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(process.pid, signal.SIGKILL)

    def __enter__(self: W) -> W:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
