"""Run of a program that leaves no processes behind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .guard import PROGRAM, Ending, guard_command
from .outcome import Failure, WorkerError


@dataclass(frozen=True)
class CommandRun:
    """A program that has ended.

    :ivar seconds: wall-clock time.
    :ivar status: exit status; if negative, the number of the signal.
    :ivar output: text that it wrote to standard output.
    """

    seconds: float
    status: int
    output: str


def run_command(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
    stdin: int | None = None,
    merge_errors: bool = False,
    errors: str = "replace",
) -> CommandRun:
    """Run a program to its end, then end every process that it started.

    :param stdin: as :class:`subprocess.Popen` takes it.
    :param merge_errors: add the program's standard error to the output; otherwise the program
        writes to the standard error of this process.
    :param errors: how output that is not UTF-8 is decoded, as :meth:`bytes.decode` takes it.
    :raises WorkerError: the program took longer than `seconds`.
    :raises OSError: the program cannot be started.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            guard = subprocess.Popen(
                [
                    sys.executable,
                    *guard_command(sys.path, PROGRAM, theirs.fileno(), *command),
                ],
                env={**os.environ, **(env or {})},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merge_errors else None,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            output, _ = guard.communicate(timeout=seconds)
            said = b"".join(iter(lambda: ours.recv(1 << 16), b""))
        except subprocess.TimeoutExpired as error:
            message = f"{command[0]} did not end within {seconds:g} s"
            raise WorkerError(Failure.TIMED_OUT, message) from error
        finally:
            # Any exception here ends the program, too.
            ours.close()
            guard.wait()
            assert guard.stdout is not None
            guard.stdout.close()
    if not said:
        raise WorkerError(Failure.OVER_LIMIT, "the guard process of the program was killed")
    told = json.loads(said)
    if "error" in told:
        raise OSError(told["error"])
    ending = Ending(**told)
    return CommandRun(ending.seconds, ending.status, output.decode(errors=errors))
