"""Placement of workers: on this machine, or on other machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from diopi_proto.worker import Handler

from .device_lock import DeviceLock
from .limits import Limits
from .worker import Worker


class Caller(Protocol):
    """Interface of a worker for the tuner: see :class:`.worker.Worker`."""

    def call(self, request: Any, seconds: float) -> Any:
        """Return the handler's answer.

        :raises WorkerError: the worker gave no answer.
        """

    def stop(self) -> None:
        """End the process and everything that it started; a later call starts a new one."""

    def __enter__(self) -> Caller:
        """Stop the worker at the end."""

    def __exit__(self, *_: object) -> None:
        """Stop."""


class Placement(ABC):
    """Factory of workers, which also locks the device for measurements; a context manager."""

    several = False
    """True if compilers may run on other machines than the one that measures."""

    def __enter__(self) -> Placement:
        """Prepare the machines."""
        return self

    def __exit__(self, *_: object) -> None:  # noqa: B027 - most hold nothing
        """Release resources of other machines."""

    @abstractmethod
    def lock(self, vendor: str, device: int) -> AbstractContextManager[object]:
        """Lock the device of the machine that measures.

        :raises TuningError: another tuner holds it.
        """

    @abstractmethod
    def measurer(self, build: Callable[[], Handler], limits: Limits) -> Caller:
        """Return a worker on the machine with the device, which must be locked."""

    @abstractmethod
    def compiler(self, build: Callable[[], Handler], limits: Limits) -> Caller:
        """Return a worker that may leave processes running, such as the server of a compiler's
        cache.
        """


class Here(Placement):
    """Placement on this machine."""

    def lock(self, vendor: str, device: int) -> AbstractContextManager[object]:
        """Lock the device; see :class:`DeviceLock`."""
        return DeviceLock(vendor, device)

    def measurer(self, build: Callable[[], Handler], limits: Limits) -> Worker:
        """Return a worker in a child process."""
        return Worker(build, limits)

    def compiler(self, build: Callable[[], Handler], limits: Limits) -> Worker:
        """Return a worker in a child process."""
        return Worker(build, limits, may_leave_children=True)
