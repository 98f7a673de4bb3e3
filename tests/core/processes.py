"""Checks in processes of their own: which vendor there is, `import torch` settles for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

# Below the limit of one test in conftest.py, so that a hang is reported with what was printed.
SECONDS = 100

VENDORS = ("cpu", "async")
"""The vendor whose memory the host shares, and the one whose memory and order are its own."""

RUNS_ONCE = pytest.mark.vendor("cpu")
"""For tests whose processes name their vendors: every vendor's suite would find the same."""

CONTROL = """
from dl_core import _C
from dl_vendor_async_test.control import Control
control = Control(_C.vendor_handle(0))
"""
"""Code for a process with DL_VENDORS=async: the gate and the counters of that vendor."""

AFTER_BACKWARD = """
import os, sys
sys.stdout.flush()
os._exit(0)
"""
"""The end of code that ran a backward pass. torch's autograd thread of a device drops its last
Python objects after `backward` has returned, and aborts the process if the interpreter ends then.
"""


class ProcessError(AssertionError):
    """The process ended otherwise than with 0; the message is what it said."""


def run(code: str | Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code, or a script, to its end.

    :param options: for the interpreter.
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
    """Return the output of code, without the last line's end.

    :raises ProcessError: it fails.
    """
    done = run(code, *options, **variables)
    if done.returncode != 0:
        raise ProcessError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.rstrip("\n")


def path_with(folder: Path) -> str:
    """PYTHONPATH of a process that sees one more folder, before all others."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
