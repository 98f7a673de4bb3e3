"""Interface of a toolchain: compilation and launches, for all devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernel import Launch

Array = NDArray[Any]


class CompileError(Exception):
    """A candidate does not compile; the text is the compiler's log."""


class Buffer(Protocol):
    """An array on the device, between guard bands."""

    def read(self) -> Array:
        """Return the content."""

    def intact(self) -> bool:
        """Return True if the guard bands are unchanged."""


class Toolchain(Protocol):
    """Compiles for one device and launches on it."""

    def identity(self) -> Mapping[str, str]:
        """Return what trials depend on: vendor and release, device, architecture, compiler."""

    def compile(self, source: str, name: str, options: Sequence[str], seconds: float) -> bytes:
        """Code that :meth:`load` takes, in this process or another.

        :raises CompileError: the source is wrong, or it takes too long.
        """

    def load(self, code: bytes, function: str) -> Callable[..., None]:
        """A launcher: called with a :class:`Launch` and the arguments, it returns when the
        kernel has ended."""

    def buffer(self, array: Array) -> Buffer:
        """Put an array onto the device."""


Launcher = Callable[[Launch, Sequence["Buffer | np.generic"]], None]
