"""Ways out of a process that pass by ``atexit``: what tools found is written on these, too."""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

_PASSING_BY = ("_exit", "execv", "execve")
"""Of module ``os``; its other functions of that kind call these."""
_terminated = False


def before_the_end(action: Callable[[], None]) -> None:
    """Call ``action`` before ``os._exit`` or ``os.exec...`` ends this program.

    :param action: leaves forked children alone, which have these functions, too.
    """
    for name in _PASSING_BY:
        setattr(os, name, _preceded(action, getattr(os, name)))


def _preceded(action: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def ending(*args: Any, **kwargs: Any) -> Any:
        action()
        return function(*args, **kwargs)

    return ending


def unwind_at_sigterm() -> None:
    """Have SIGTERM end this process as ``sys.exit`` does, where it would kill it unasked.

    A program that has a handler of its own, or sets one later, keeps it.
    """
    if threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, _unwind)


def _unwind(number: int, _: Any) -> None:
    global _terminated
    _terminated = True
    # A second one kills.
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


def die_at_sigterm() -> None:
    """Undo :func:`unwind_at_sigterm`, in a forked child: how that dies is its parent's to see."""
    if signal.getsignal(signal.SIGTERM) is _unwind:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_by_sigterm() -> None:
    """After :func:`unwind_at_sigterm`, at the very end: who waits learns which signal it was."""
    if _terminated:
        os.kill(os.getpid(), signal.SIGTERM)
