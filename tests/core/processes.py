"""Checks in child processes: the vendor of a process is fixed by `import torch`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

# Less than the timeout of a test in conftest.py, so that a hang is reported with the output.
SECONDS = 100

VENDORS = ("cpu", "async")
"""A vendor with host-accessible memory, and one with its own memory and asynchronous order."""

RUNS_ONCE = pytest.mark.vendor("cpu")
"""For tests whose processes name their vendors: every vendor's suite would give the same result."""

CONTROL = """
from dl_core import _C
from dl_vendor_async_test.control import Control
control = Control(_C.vendor_handle(0))
"""
"""Code for a process with DL_VENDORS=async: control of that vendor."""

AFTER_BACKWARD = """
import os, sys
sys.stdout.flush()
os._exit(0)
"""
"""Suffix of code that ran a backward pass. A device's autograd thread drops its last Python objects
after `backward` has returned, and aborts the process if the interpreter exits at that moment."""


class ProcessError(AssertionError):
    """The process did not exit with 0; the message is its output."""


def run(code: str | Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code, or a script, to its end.

    :param options: interpreter options.
    :param variables: environment variables in addition to this process's own.
    :raises TimeoutExpired: it hangs; it is killed then, with the processes that it forked.
    """
    program = [str(code)] if isinstance(code, Path) else ["-c", textwrap.dedent(code)]
    command: Sequence[str] = [sys.executable, *options, *program]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def output(code: str | Path, *options: str, **variables: str) -> str:
    """Return the output of code, without the final newline.

    :raises ProcessError: it fails.
    """
    done = run(code, *options, **variables)
    if done.returncode != 0:
        raise ProcessError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.rstrip("\n")


def path_with(folder: Path) -> str:
    """Return PYTHONPATH with one more folder before all others."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
