"""One run of a program, below a guard that ends it with the tuner. Imports no torch."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import TuningError


@dataclass(frozen=True)
class ProgramRun:
    """One run of the program.

    :ivar seconds: from start to end, by the wall clock.
    :ivar output: bytes that are not UTF-8 are kept as surrogates, so that they can be compared.
    """

    seconds: float
    status: int
    output: str


def run(command: Sequence[str], variables: dict[str, str]) -> ProgramRun:
    """Run a program to its end; nothing that it started is left then.

    :raises TuningError: it cannot be started.
    """
    ours, theirs = socket.socketpair()
    # A user's file next to the program must not be imported as a module of the guard.
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"from {__package__}.program_guard import main; main()"
    )
    with ours:
        with theirs:
            guard = subprocess.Popen(
                [sys.executable, "-c", code, str(theirs.fileno()), *command],
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            output, _ = guard.communicate()
            told = _receive(ours)
        finally:
            # Whatever ends this run, it is what ends the program.
            ours.close()
            guard.wait()
            assert guard.stdout is not None
            guard.stdout.close()
    if "error" in told:
        raise TuningError(f"[tune] {command[0]} cannot be started: {told['error']}")
    text = output.decode(errors="surrogateescape")
    return ProgramRun(told["seconds"], told["status"], text)


def _receive(control: socket.socket) -> dict[str, Any]:
    said = b""
    while data := control.recv(1 << 16):
        said += data
    if not said:
        raise TuningError("[tune] something ended the process that guards the program")
    told: dict[str, Any] = json.loads(said)
    return told
