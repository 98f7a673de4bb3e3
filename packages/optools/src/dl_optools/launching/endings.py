"""Process exits that bypass ``atexit``: tools write their results on these, too."""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

_PASSING_BY = ("_exit", "execv", "execve")
"""Functions of module ``os``; its other functions of that kind call these."""
_terminated = False


def call_before_exit(action: Callable[[], None]) -> None:
    """Call ``action`` before ``os._exit`` or ``os.exec...`` ends this program.

    :param action: must do nothing in forked children, which have these functions, too.
    """
    for name in _PASSING_BY:
        setattr(os, name, _call_first(action, getattr(os, name)))


def _call_first(action: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def ending(*args: Any, **kwargs: Any) -> Any:
        action()
        return function(*args, **kwargs)

    return ending


def unwind_at_sigterm() -> None:
    """Make SIGTERM end this process as ``sys.exit`` does, unless the program handles it.

    A program that has a handler of its own, or sets one later, keeps it.
    """
    if threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, _unwind)


def _unwind(number: int, _: Any) -> None:
    global _terminated
    _terminated = True
    # A second SIGTERM kills.
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


def is_terminated() -> bool:
    """Return True if SIGTERM is ending this process, after :func:`unwind_at_sigterm`."""
    return _terminated


def die_at_sigterm() -> None:
    """Undo :func:`unwind_at_sigterm` in a forked child, whose parent observes how it ends."""
    if signal.getsignal(signal.SIGTERM) is _unwind:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_by_sigterm() -> None:
    """Report the signal to the waiting process at the end, after :func:`unwind_at_sigterm`."""
    if _terminated:
        os.kill(os.getpid(), signal.SIGTERM)
