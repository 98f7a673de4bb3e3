"""Process between a parent and its worker or program: it ends everything that these started.

It runs no code of its parent. The system makes it the parent of every orphan below it, whatever
session or group that belongs to, and it notices by itself when its own parent has ended.
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

    :ivar status: exit status; if negative, the number of the signal.
    :ivar peak: peak memory in bytes of the process, or of one process that it waited for.
    :ivar seconds: wall-clock time from its start to its end.
    """

    status: int
    peak: int
    seconds: float


def guard_command(path: Sequence[str], kind: str, *arguments: object) -> list[str]:
    """Return the command of a guard.

    :param path: import path; it must not let a user's file shadow a module of the guard.
    """
    code = f"import sys; sys.path[:] = {list(path)!r}\nfrom {__name__} import main; main()"
    return ["-c", code, kind, *map(str, arguments)]


def main() -> None:
    """Guard a worker or a program; the arguments are those of :func:`guard_command`."""
    control = socket.socket(fileno=int(sys.argv[2]))
    adopt_orphans()
    began = time.perf_counter()
    if sys.argv[1] == WORKER:
        # Ctrl-C is handled by the parent, which decides what happens to its workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        child = _fork(control, *sys.argv[3:])
        if not child:
            return
    else:
        try:
            # There is no other thread that could hold a lock while the function runs.
            tie = functools.partial(end_with_parent, parent=os.getpid())
            program = subprocess.Popen(sys.argv[3:], start_new_session=True, preexec_fn=tie)
        except OSError as error:
            control.sendall(json.dumps({"error": error.strerror}).encode())
            return
        child = program.pid
        # wait4() below reads the status.
        program.returncode = 0
    _watch(control, child)
    seconds = time.perf_counter() - began
    status, peak = _end_all(child)
    with contextlib.suppress(OSError):
        control.sendall(json.dumps({"status": status, "peak": peak, "seconds": seconds}).encode())


def _fork(control: socket.socket, *arguments: str) -> int:
    """Fork a worker; return its process id, or 0 in the worker after it has ended normally."""
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
        # The guard must get processor time even among hundreds of processes of a fork bomb.
        os.nice(_PRIORITY)
    return child


def _watch(control: socket.socket, child: int) -> None:
    """Return when the child has ended, or when the parent has ended or asks to end the child."""
    ended = os.pidfd_open(child)
    with selectors.DefaultSelector() as selector:
        # The other side of `control` sends nothing, so it is readable only when that side is
        # closed.
        for file in (control.fileno(), ended):
            selector.register(file, selectors.EVENT_READ)
        selector.select()
    os.close(ended)


def _end_all(child: int) -> tuple[int, int]:
    """Return the status and the peak memory of the child, after ending all processes below this
    one."""
    mine, ended = os.getpgrp(), (0, 0)
    while True:
        found = below(os.getpid())
        with contextlib.suppress(ProcessLookupError, PermissionError):
            for group in {each.group for each in found} - {mine}:
                # All at once, so that no process forks while others are being ended.
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
