"""Errors for invalid arguments. A candidate that fails is not an error but a failed trial."""

from __future__ import annotations

from typing import ClassVar


class TuningError(Exception):
    """Base class of the errors that this package raises deliberately.

    :cvar status: exit code of the command; 2: an argument, or a file that it names, cannot be used.
    """

    status: ClassVar[int] = 2


class MeasurementError(TuningError):
    """A measurement is impossible: a kernel or program fails or is wrong, or a device is busy."""

    status = 1


class MissingProgramError(TuningError):
    """The program to run cannot be started."""

    status = 127


class ArgumentsError(TuningError):
    """An argument of a command is invalid; the message names it and the remedy."""


class SpaceError(TuningError, ValueError):
    """A parameter, a constraint, or a file of a search space is invalid."""


class MarkerError(SpaceError):
    """A marker in a kernel's source does not match the parameters; the message has line and key."""


class DatabaseError(TuningError):
    """The database of trials cannot be used."""


class UnavailableDatabaseError(DatabaseError, MeasurementError):
    """Another process holds the database."""


class KernelError(TuningError):
    """The kernel's description or the kernel itself cannot be used."""


class FailingKernelError(KernelError, MeasurementError):
    """The kernel does not compile, fails, or is wrong."""
