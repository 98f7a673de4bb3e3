"""Process above a worker or a program: whatever happens, it ends all that these started.

It runs no code of its parent's. The system gives it what a process below it starts and leaves, in
whatever session or group that is, and it sees by itself when the parent is gone.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from .processes import below
from .serve import serve
from .system import adopt_orphans, end_with_parent

WORKER, PROGRAM = "worker", "program"
_PRIORITY = -5


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    :ivar status: exit status, or less than 0: the signal.
    :ivar peak: bytes of memory that it, or one process that it waited for, had at most.
    :ivar seconds: from its start to its end, by the wall clock.
    """

    status: int
    peak: int
    seconds: float


def guard_command(path: Sequence[str], kind: str, *arguments: object) -> list[str]:
    """Return the command of a guard.

    :param path: import path; a user's file next to a program must not shadow a module of the guard.
    """
    code = f"import sys; sys.path[:] = {list(path)!r}\nfrom {__name__} import main; main()"
    return ["-c", code, kind, *map(str, arguments)]


def main() -> None:
    """Guard a worker or a program; the arguments are those of :func:`guard_command`."""
    control = socket.socket(fileno=int(sys.argv[2]))
    adopt_orphans()
    began = time.perf_counter()
    if sys.argv[1] == WORKER:
        # Ctrl-C is for the parent, which decides what becomes of its workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        child = _fork(control, *sys.argv[3:])
        if not child:
            return
    else:
        try:
            # No thread is there that could hold a lock while the function runs.
            tie = functools.partial(end_with_parent, parent=os.getpid())
            program = subprocess.Popen(sys.argv[3:], start_new_session=True, preexec_fn=tie)
        except OSError as error:
            control.sendall(json.dumps({"error": error.strerror}).encode())
            return
        child = program.pid
        # The status is taken by wait4() below.
        program.returncode = 0
    _watch(control, child)
    seconds = time.perf_counter() - began
    status, peak = _end_all(child)
    with contextlib.suppress(OSError):
        control.sendall(json.dumps({"status": status, "peak": peak, "seconds": seconds}).encode())


def _fork(control: socket.socket, *arguments: str) -> int:
    """Fork a worker; returns its number, and 0 in the worker when it has ended normally."""
    requests, output, notes = map(int, arguments[:3])
    guard, child = os.getpid(), os.fork()
    if child == 0:
        os.setsid()
        end_with_parent(parent=guard)
        control.close()
        serve(socket.socket(fileno=requests), bytes.fromhex(arguments[3]), output, notes)
        return 0
    for descriptor in (requests, output, notes):
        os.close(descriptor)
    with contextlib.suppress(OSError):
        # Among hundreds of processes of a fork bomb, its turn has to come.
        os.nice(_PRIORITY)
    return child


def _watch(control: socket.socket, child: int) -> None:
    """Return when the child has ended, or the parent is gone or wants it ended."""
    ended = os.pidfd_open(child)
    with selectors.DefaultSelector() as selector:
        # The other side of `control` sends nothing: it is readable when that is closed.
        for file in (control.fileno(), ended):
            selector.register(file, selectors.EVENT_READ)
        selector.select()
    os.close(ended)


def _end_all(child: int) -> tuple[int, int]:
    """Return the status and the peak memory of the child once all below this process has ended."""
    mine, ended = os.getpgrp(), (0, 0)
    while True:
        found = below(os.getpid())
        with contextlib.suppress(ProcessLookupError, PermissionError):
            for group in {each.group for each in found} - {mine}:
                # At once, so that no process forks while others are being ended.
                os.killpg(group, signal.SIGKILL)
        for each in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(each.pid, signal.SIGKILL)
        options = 0
        try:
            while (reaped := os.wait4(-1, options))[0]:
                pid, status, usage = reaped
                if pid == child:
                    ended = os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10
                options = os.WNOHANG
        except ChildProcessError:
            return ended
