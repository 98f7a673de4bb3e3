"""A child process with the vendor, controlled line by line."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from driver import TIMEOUT_SECONDS

HEAD = """
import gc, os, sys
import numpy as np
from diopi_proto import load_vendor
from dl_vendor_async_test.plugin import dl_vendor

def say(*words):
    print(*words, flush=True)

def hear():
    return sys.stdin.readline().strip()

vendor = load_vendor(dl_vendor().library)
"""


class Child:
    """A process that runs code with `vendor`, `say` and `hear`; killed at the end of the block."""

    def __init__(self, code: str, **variables: str) -> None:
        path = os.pathsep.join(str(Path(p).absolute()) for p in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", HEAD + code],
            env={**os.environ, "PYTHONPATH": path, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        # Guards against a hang: a wait for the child ends when it is killed.
        self._guard = threading.Timer(TIMEOUT_SECONDS, self._process.kill)
        self._guard.daemon = True
        self._guard.start()

    @property
    def number(self) -> int:
        return self._process.pid

    def hear(self) -> str:
        """Return its next line; empty if it has ended."""
        return self._stdout.readline().strip()

    def say(self, line: str = "") -> None:
        self._stdin.write(line + "\n")
        self._stdin.flush()

    def kill(self) -> None:
        """Kill it, and return once it has ended."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        self._guard.cancel()
        self.kill()
        self._stdin.close()
        self._stdout.close()
