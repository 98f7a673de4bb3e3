"""Whose end ends whom: commands that run programs, and these. Imports no torch."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from cffi import FFI

_SET_PDEATHSIG = 1
"""Of linux/prctl.h."""


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


def tied_to_parent(number: int) -> Callable[[], None]:
    """What a child process calls to get a signal when the thread that started it has ended.

    Made in the parent: between fork and exec little is allowed.
    """
    prctl = _prctl()
    parent = os.getpid()

    def tie() -> None:
        prctl(_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)

    return tie


def kill_all_of(process: int) -> None:
    """Kill a process with its group, if it has one of its own by now."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(process, signal.SIGKILL)


def _prctl() -> Callable[[int, int], int]:
    ffi = FFI()
    ffi.cdef("int prctl(int option, unsigned long argument);")
    library = ffi.dlopen(None)

    def call(option: int, argument: int) -> int:
        return int(library.prctl(option, argument))

    return call
