"""Handlers of requests that run in worker processes, which import this file."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from diopi_proto.worker import note


def obey() -> Callable[[Any], Any]:
    """Perform the action that the request names."""
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
            note("about to hang")
            signal.pause()
        if what == "stubborn":
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()
        if what == "notes":
            for at in range(value):
                note(f"step {at}")
                time.sleep(0.1)
            return "done"
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
    """Leave a process in another session, whose parent has ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.pause()
        os._exit(0)
    os.wait()
    return "none of mine"


def fork(_: object) -> str:
    """Fork, so that two processes return."""
    return "copy" if os.fork() == 0 else "original"


def bomb(count: int) -> None:
    """Start waiting processes, each in its own session, and wait."""
    for _ in range(count):
        if os.fork() == 0:
            os.setsid()
            break
    signal.pause()


def allocate(count: int) -> int:
    """Allocate bytes of private memory."""
    return len(bytearray(count))


def allocate_and_return(count: int) -> bytes:
    """Allocate bytes and return them as the answer."""
    return bytes(count)


def share(count: int) -> None:
    """Allocate and touch bytes of shared memory, which does not count as data of one process."""
    memory = mmap.mmap(-1, count)
    for at in range(0, count, mmap.PAGESIZE):
        memory[at] = 1
    signal.pause()


def close(_: object) -> None:
    """Close all files."""
    os.closerange(0, 1000)


def close_and_hang(_: object) -> None:
    """Close all files and keep running."""
    os.closerange(0, 1000)
    signal.pause()


def scribble(text: bytes) -> None:
    """Write to every file that is open."""
    for file in range(3, 1000):
        with contextlib.suppress(OSError):
            os.write(file, text)


def write(count: int) -> None:
    """Write a large file without a name."""
    with tempfile.TemporaryFile() as file:
        os.truncate(file.fileno(), count)


def kill_parent(_: object) -> None:
    """Kill the parent process."""
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


def lock(_: object) -> Any:
    """Return an object that cannot be pickled."""
    return threading.Lock()


MISDEEDS: tuple[Callable[[Any], Any], ...] = (
    *(
        child,
        daemon,
        fork,
        bomb,
        allocate,
        allocate_and_return,
        share,
        close,
        close_and_hang,
        scribble,
        write,
    ),
    kill_parent,
    lock,
)


def refuse() -> Callable[[Any], Any]:
    """Handler whose construction fails."""
    raise RuntimeError("there is no device")


def traced() -> Callable[[Any], Any]:
    """Make Python write its stack at a fatal signal."""
    faulthandler.enable()
    return obey()


def registered() -> Callable[[Any], Any]:
    """Create a file when the interpreter exits."""
    return lambda path: atexit.register(Path(path).touch) and None
