"""Subreaper of a guard: it receives all orphaned descendants and ends them."""

from __future__ import annotations

import contextlib
import os
import signal

from cffi import FFI

from .processes import below

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36


def adopt_orphans() -> None:
    """From now on, what is left by a process below this one becomes a child of this one."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Let the system end this process when its parent ends, however that ends."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)


class Reaper:
    """Takes the status of children, and ends all that is below this process.

    :ivar ended: of the child that matters: its status, as of :func:`os.waitpid`, and the bytes of
        memory that it, or one process that it waited for, had at most.
    """

    def __init__(self, child: int) -> None:
        self._child = child
        self.ended = (0, 0)

    def end_all(self) -> None:
        """Return when nothing is left below this process."""
        mine = os.getpgrp()
        while True:
            found = below(os.getpid())
            with contextlib.suppress(ProcessLookupError, PermissionError):
                for group in {each.group for each in found} - {mine}:
                    # At once, so that no process forks while others are being ended.
                    os.killpg(group, signal.SIGKILL)
            for each in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(each.pid, signal.SIGKILL)
            if not self.reap(wait=True):
                return

    def reap(self, *, wait: bool = False) -> bool:
        """Take the status of children that have ended; whether there are others."""
        options = 0 if wait else os.WNOHANG
        try:
            while (found := os.wait4(-1, options))[0]:
                pid, status, usage = found
                if pid == self._child:
                    self.ended = (status, usage.ru_maxrss << 10)
                options = os.WNOHANG
        except ChildProcessError:
            return False
        return True


def _prctl(option: int, argument: int) -> None:
    ffi = FFI()
    ffi.cdef("int prctl(int option, unsigned long argument);")
    ffi.dlopen(None).prctl(option, argument)
