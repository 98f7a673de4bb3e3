"""Run of a program below a guard that ends it with the tuner. Does not import torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diopi_proto.worker import WorkerError, run_command

from ..errors import MeasurementError, MissingProgramError


@dataclass(frozen=True)
class ProgramRun:
    """One run of the program.

    :ivar seconds: wall-clock time.
    :ivar output: output of the program; bytes that are not UTF-8 are kept as surrogates.
    """

    seconds: float
    status: int
    output: str


def run(command: Sequence[str], variables: dict[str, str]) -> ProgramRun:
    """Run a program to its end, and end all processes that it started.

    :raises MissingProgramError: it cannot be started.
    :raises MeasurementError: it cannot be run to its end.
    """
    try:
        done = run_command(command, env=variables)
    except WorkerError as error:
        raise MeasurementError(f"[tune] {error}") from error
    except OSError as error:
        raise MissingProgramError(f"[tune] {command[0]} cannot be started: {error}") from error
    text = done.output.decode(errors="surrogateescape")
    return ProgramRun(done.ending.seconds, done.ending.status, text)
