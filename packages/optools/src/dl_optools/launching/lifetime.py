"""Whose end ends whom: commands that run programs, and these. Imports no torch."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM came: what runs is to be stopped, and what was found to be told, as at Ctrl-C."""


def exit_status(stopped: KeyboardInterrupt) -> int:
    """128 + the signal's number, as shells have it."""
    number = signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT
    return 128 + number


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
