"""Handlers of requests that run in worker processes, which import this file."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

from dl_autotune.errors import TuningError


def obey() -> Callable[[Any], Any]:
    """Run the action that the request names."""
    return lambda request: DEEDS[request[0]](request[1])


def crash(number: int) -> None:
    """Print a message and crash."""
    os.write(2, b"first\nlast words\n")
    os.kill(os.getpid(), number)


def refuse(error: Exception) -> None:
    """Raise an error."""
    raise error


def bomb(count: int) -> None:
    """Start waiting processes in sessions of their own, and wait."""
    for _ in range(count):
        if os.fork() == 0:
            os.setsid()
            break
    signal.pause()


def kill_parent(_: object) -> None:
    """Kill the parent process."""
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


DEEDS: dict[str, Callable[[Any], Any]] = {
    "echo": lambda value: value,
    "pid": lambda _: os.getpid(),
    "raise": lambda text: refuse(ValueError(text)),
    "refuse": lambda text: refuse(TuningError(text)),
    "crash": crash,
    "hang": lambda _: signal.pause(),
    "child": lambda _: subprocess.Popen(["sleep", "1000"]).pid,
    "bomb": bomb,
    "kill_parent": kill_parent,
}


def measure() -> Callable[[dict[str, Any]], Any]:
    """Run the action that a job of the operator tuner names."""
    return lambda job: DEEDS[job["do"]](job["given"])


def without_device() -> Callable[[Any], Any]:
    """Fail to start."""
    raise RuntimeError("there is no device")


def large() -> Callable[[Any], Any]:
    """Start with 64 MiB of memory."""
    held = bytearray(64 << 20)
    return lambda request: len(held)
