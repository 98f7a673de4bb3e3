"""Interface of a toolchain, which compiles and launches kernels on any device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernel import Launch

Array = NDArray[Any]


class CompileError(Exception):
    """A candidate does not compile; the message is the compiler's log."""


class Buffer(Protocol):
    """An array on the device, between guard bands."""

    def read(self) -> Array:
        """Return the content."""

    def intact(self) -> bool:
        """Return True if the guard bands are unchanged."""


class Toolchain(Protocol):
    """Compiles for one device and launches on it."""

    def identity(self) -> Mapping[str, str]:
        """Return what trials depend on: vendor, its release, device, architecture, and compiler."""

    def compile(self, source: str, name: str, options: Sequence[str], seconds: float) -> bytes:
        """Compile to code that :meth:`load` accepts, in this process or another.

        :raises CompileError: the source is wrong, or it takes too long.
        """

    def load(self, code: bytes, function: str) -> Callable[..., None]:
        """Return a function that launches the kernel and waits for its end."""

    def buffer(self, array: Array) -> Buffer:
        """Put an array onto the device."""


Launcher = Callable[[Launch, Sequence["Buffer | np.generic"]], None]
