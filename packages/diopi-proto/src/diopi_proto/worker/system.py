"""Linux system calls that Python has no function for, and the killing of process groups."""

from __future__ import annotations

import contextlib
import os
import signal

from ._linux_gen import ffi

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
"""Values from linux/prctl.h."""
_prctl = ffi.dlopen(None).prctl
"""Looked up once, because little is allowed between fork and exec."""


def end_with_parent(number: int = signal.SIGKILL, parent: int | None = None) -> None:
    """Make the kernel send this process a signal when the thread that started it ends, for any
    reason.

    :param parent: the process of that thread, which may have ended already; None: it has not ended.
    """
    _prctl(_SET_PDEATHSIG, ffi.cast("unsigned long", number))
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Become the parent of all descendants that lose their parent."""
    _prctl(_SET_CHILD_SUBREAPER, ffi.cast("unsigned long", 1))


def kill_group(process: int) -> None:
    """Kill a process, with its group if it leads one by now."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(process, signal.SIGKILL)
