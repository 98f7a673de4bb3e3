"""Run of a program below a guard that ends it with the tuner. Does not import torch."""

from __future__ import annotations

from collections.abc import Sequence

from diopi_proto.worker import CommandRun, WorkerError, run_command

from ..errors import MeasurementError, MissingProgramError


def run(command: Sequence[str], variables: dict[str, str]) -> CommandRun:
    """Run a program to its end, and end all processes that it started.

    :returns: the run, whose output keeps bytes that are not UTF-8 as surrogates.
    :raises MissingProgramError: it cannot be started.
    :raises MeasurementError: it cannot be run to its end.
    """
    try:
        return run_command(command, env=variables, errors="surrogateescape")
    except WorkerError as error:
        raise MeasurementError(f"[tune] {error}") from error
    except OSError as error:
        raise MissingProgramError(f"[tune] {command[0]} cannot be started: {error}") from error
