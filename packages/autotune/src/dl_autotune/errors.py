"""Errors about what a caller passed. A candidate that fails is not an error, but a trial."""

from __future__ import annotations


class TuningError(Exception):
    """The base of all errors that this package raises on purpose."""


class ArgumentsError(TuningError):
    """An argument of a command cannot be used; the message names it and what to give instead."""


class SpaceError(TuningError, ValueError):
    """A parameter, a constraint, or a file of a search space cannot be used."""


class MarkerError(SpaceError):
    """A marker in a kernel's source and the parameters do not fit; names line and key."""


class DatabaseError(TuningError):
    """The database of trials cannot be used."""


class KernelError(TuningError):
    """The kernel's description or the kernel itself cannot be used."""
