"""Where workers run: on this machine, or on others."""

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
        """The handler's answer.

        :raises WorkerError: there is none.
        """

    def stop(self) -> None:
        """End the process and all that it started; a later call starts another one."""

    def __enter__(self) -> Caller:
        """To be stopped at the end."""

    def __exit__(self, *_: object) -> None:
        """Stop."""


class Placement(ABC):
    """Makes workers, and holds the device that they measure on; a context in which they run."""

    several = False
    """True if compilers may run on other machines than the one that measures."""

    def __enter__(self) -> Placement:
        """Be ready."""
        return self

    def __exit__(self, *_: object) -> None:  # noqa: B027 - most hold nothing
        """Let go of what other machines hold for this."""

    @abstractmethod
    def lock(self, vendor: str, device: int) -> AbstractContextManager[object]:
        """Hold a device of the machine that measures.

        :raises TuningError: another tuner holds it.
        """

    @abstractmethod
    def measurer(self, build: Callable[[], Handler], limits: Limits) -> Caller:
        """A worker where the device is; to be called while that is held."""

    @abstractmethod
    def compiler(self, build: Callable[[], Handler], limits: Limits) -> Caller:
        """A worker that may leave processes behind, as a compiler's cache does."""


class Here(Placement):
    """On this machine."""

    def lock(self, vendor: str, device: int) -> AbstractContextManager[object]:
        """As :class:`DeviceLock`."""
        return DeviceLock(vendor, device)

    def measurer(self, build: Callable[[], Handler], limits: Limits) -> Worker:
        """A process below this one."""
        return Worker(build, limits)

    def compiler(self, build: Callable[[], Handler], limits: Limits) -> Worker:
        """A process below this one."""
        return Worker(build, limits, may_leave_children=True)
