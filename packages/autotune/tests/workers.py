"""Handlers of requests that run in worker processes, which import this file."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any


def obey() -> Callable[[Any], Any]:
    """Does what the request names."""
    misdeeds = {each.__name__: each for each in MISDEEDS}

    def handle(request: tuple[str, Any]) -> Any:
        what, value = request
        if what == "echo":
            return value
        if what == "pid":
            return os.getpid()
        if what == "raise":
            raise ValueError(value)
        if what == "crash":
            os.kill(os.getpid(), value)
        if what == "leave":
            os._exit(value)
        if what == "hang":
            signal.pause()
        if what == "print":
            for _ in range(value):
                os.write(1, b"x" * (1 << 20))
                sys.stderr.write("y")
            return "printed"
        if what in misdeeds:
            return misdeeds[what](value)
        raise AssertionError(what)

    return handle


def child(_: object) -> int:
    """Leave a process behind."""
    return subprocess.Popen(["sleep", "1000"]).pid


def daemon(_: object) -> str:
    """Leave one in a session of its own, whose parent has ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.pause()
        os._exit(0)
    os.wait()
    return "none of mine"


def fork(_: object) -> str:
    """Return twice."""
    return "copy" if os.fork() == 0 else "original"


def bomb(count: int) -> None:
    """Start processes that wait, a session for each, and wait too."""
    for _ in range(count):
        if os.fork() == 0:
            os.setsid()
            break
    signal.pause()


def allocate(count: int) -> int:
    """Take bytes of private memory."""
    return len(bytearray(count))


def share(count: int) -> None:
    """Take bytes of shared memory, which is not data of one process, and touch them."""
    memory = mmap.mmap(-1, count)
    for at in range(0, count, mmap.PAGESIZE):
        memory[at] = 1
    signal.pause()


def close(_: object) -> None:
    """Close all files."""
    os.closerange(0, 1000)


def close_and_hang(_: object) -> None:
    """Close all files, and stay."""
    os.closerange(0, 1000)
    signal.pause()


def scribble(text: bytes) -> None:
    """Write to every file that is open."""
    for file in range(3, 1000):
        with contextlib.suppress(OSError):
            os.write(file, text)


def write(count: int) -> None:
    """Write a large file, which has no name."""
    with tempfile.TemporaryFile() as file:
        os.truncate(file.fileno(), count)


def kill_parent(_: object) -> None:
    """End the process above."""
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


MISDEEDS: tuple[Callable[[Any], Any], ...] = (
    *(child, daemon, fork, bomb, allocate, share, close, close_and_hang, scribble, write),
    kill_parent,
)


def refuse() -> Callable[[Any], Any]:
    """Cannot begin."""
    raise RuntimeError("there is no device")


def large() -> Callable[[Any], Any]:
    """Needs 64 MiB to begin."""
    held = bytearray(64 << 20)
    return lambda request: len(held)
