"""A process that does what may crash, hang, or spoil memory; whatever it does is an answer here."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from ..errors import TuningError

Handler = Callable[[Any], Any]
"""Answers a request; both are sent between processes by pickle."""
_CONTEXT = multiprocessing.get_context("spawn")
_START_SECONDS = 120.0


class WorkerError(TuningError):
    """The process did not answer.

    :ivar reason: "timeout", "crash" or "error".
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Worker:
    """Calls a handler in a process of its own; a new one after each failure.

    The process has its own group, which is killed as a whole, a null device for what it prints,
    and ends by itself when this one does.

    :param build: makes the handler, in the process; importable there.
    """

    def __init__(self, build: Callable[[], Handler]) -> None:
        self._build = build
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def call(self, request: Any, seconds: float) -> Any:
        """The handler's answer.

        :raises WorkerError: the process ended, raised, or was killed after `seconds`.
        """
        connection = self._connection or self._start()
        try:
            connection.send(request)
            if not connection.poll(seconds):
                raise WorkerError("timeout", f"no answer within {seconds:g} s")
            succeeded, answer = connection.recv()
        except WorkerError:
            self.stop()
            raise
        except (EOFError, OSError) as error:
            raise WorkerError("crash", self._how_it_ended()) from error
        if not succeeded:
            self.stop()
            raise WorkerError("error", answer)
        return answer

    def _start(self) -> Connection:
        ours, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, self._build), daemon=True)
        self._process.start()
        theirs.close()
        self._connection = ours
        try:
            if not ours.poll(_START_SECONDS):
                raise WorkerError("timeout", f"a worker did not start in {_START_SECONDS:g} s")
            succeeded, answer = ours.recv()
        except (EOFError, OSError) as error:
            raise WorkerError("crash", self._how_it_ended()) from error
        if not succeeded:
            self.stop()
            raise WorkerError("error", answer)
        return ours

    def _how_it_ended(self) -> str:
        process = self._process
        assert process is not None
        process.join(5)
        code = process.exitcode
        self.stop()
        if code is not None and code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with status {code}"

    def stop(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            with contextlib.suppress(AttributeError):
                process.kill()
            process.join()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _serve(connection: Connection, build: Callable[[], Handler]) -> None:
    """What the process runs."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - its descriptor is what matters
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    try:
        handler = build()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told to the other side
        connection.send((False, _said(error)))
        return
    connection.send((True, None))
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            answer = (True, handler(request))
        except Exception as error:  # noqa: BLE001 - as above
            answer = (False, _said(error))
        connection.send(answer)


def _said(error: Exception) -> str:
    if isinstance(error, TuningError):
        return str(error)
    return "".join(traceback.format_exception_only(error)).strip()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.killpg(os.getpgrp(), signal.SIGKILL)
