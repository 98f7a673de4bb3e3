"""Outcomes of a call in a worker other than an answer."""

from __future__ import annotations

import signal
from enum import Enum
from typing import Any


class Failure(Enum):
    """Kind of a failure."""

    RAISED = "error"
    CRASHED = "crash"
    EXITED = "exit"
    TIMED_OUT = "timeout"
    OUT_OF_MEMORY = "memory"
    OVER_LIMIT = "limit"
    LEFT_CHILDREN = "children"
    CLOSED = "closed"
    """The worker closed its pipes and kept running."""
    GARBAGE = "garbage"
    """The worker wrote something that is not an answer to its pipe."""


class WorkerError(Exception):
    """The worker did not answer; the message says why.

    :ivar signal: signal that ended the process; 0: none.
    :ivar status: exit status of the process; None: the process did not exit by itself.
    :ivar peak: peak memory of the process in bytes, if it ended by itself.
    :ivar output: end of the text that it wrote to standard output and error.
    :ivar note: last note of the process.
    """

    def __init__(self, failure: Failure, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.failure = failure
        self.signal = -code if code is not None and code < 0 else 0
        self.status = code if code is not None and code >= 0 else None
        self.peak = 0
        self.output = self.note = ""


def signal_name(number: Any) -> str:
    """Return the name of a signal; real-time signals have numbers only."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
