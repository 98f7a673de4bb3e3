"""Handlers of requests that run in worker processes, which import this file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def obey() -> Callable[[Any], Any]:
    """Does what the request names."""

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
        if what == "child":
            return subprocess.Popen(["sleep", "1000"]).pid
        raise AssertionError(what)

    return handle


def refuse() -> Callable[[Any], Any]:
    """Cannot begin."""
    raise RuntimeError("there is no device")
