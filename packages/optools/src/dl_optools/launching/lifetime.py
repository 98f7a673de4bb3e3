"""Lifetime of programs and of the commands that run them: signals and parents. Imports no torch."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived: as at Ctrl-C, stop what is running and report what was found."""


def exit_status(stopped: KeyboardInterrupt) -> int:
    """Return 128 + the signal's number, as shells do."""
    number = signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT
    return 128 + number


def describe_status(status: int) -> str:
    """Return ``exit status 3``, or the signal that the status stands for."""
    if status > 128:
        try:
            return f"killed by {signal.Signals(status - 128).name}"
        except ValueError:
            pass
    return f"exit status {status}"


def describe_end(status: int) -> str:
    """Return ``ended with exit status 3``, or ``was killed by`` and the signal."""
    how = describe_status(status)
    return f"ended with {how}" if how.startswith("exit") else f"was {how}"


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Raise :class:`Terminated` at SIGTERM."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(*_: Any) -> None:
    raise Terminated
