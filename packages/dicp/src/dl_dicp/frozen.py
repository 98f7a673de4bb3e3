"""Weights that a program promises not to change: the vendor keeps them in layouts of its own.

What writes to one through torch, or puts another in its place, is noticed before the next call.
What writes past torch's counting, as through ``weight.data``, is not.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from dl_core.torch_backend import constants

from .memory import span

if TYPE_CHECKING:
    from diopi_proto.constants import Constants


class _Range(NamedTuple):
    memory: int
    bytes: int


class FrozenWeights:
    """Those of a compiled graph."""

    def __init__(self, device: torch.device, arguments: Sequence[Any], written: set[int]) -> None:
        """``arguments`` are those of a call; parameters that no call writes to are weights."""
        self._places = [
            place
            for place, value in enumerate(arguments)
            if isinstance(value, torch.nn.Parameter)
            and value.device == device
            and value.is_floating_point()
            and value.ndim >= 2
            and place not in written
        ]
        self._found = constants.extension(device.index)
        self._lock = threading.Lock()
        self._states: list[tuple[int, int]] = []
        # Kept alive, so that nothing else comes to lie in the declared memory.
        self._weights: list[Tensor] = []
        self._ranges: list[_Range] = []
        if self._found is not None:
            forgotten = weakref.finalize(self, _forget, *self._found, self._ranges)
            forgotten.atexit = False  # the process's memory goes with it

    @contextmanager
    def used(self, arguments: Sequence[Any]) -> Iterator[None]:
        """The calls inside read what the vendor has made of the weights among the arguments."""
        if self._found is None:
            yield
            return
        weights = [arguments[place] for place in self._places]
        states = [state_of(weight) for weight in weights]
        if states != self._states:
            self._declare(weights, states)
        vendor, device = self._found
        vendor.use(True, device)
        try:
            yield
        finally:
            vendor.use(False, device)

    def _declare(self, weights: list[Tensor], states: list[tuple[int, int]]) -> None:
        assert self._found is not None
        vendor, device = self._found
        with self._lock:
            _forget(vendor, device, self._ranges)
            for weight in weights:
                found = _range(weight)
                vendor.declare(*found, device)
                self._ranges.append(found)
            self._weights, self._states = weights, states


def state_of(weight: Tensor) -> tuple[int, int]:
    """Where a tensor lies, and how often it has been written to, if torch counts that."""
    return weight.data_ptr(), 0 if weight.is_inference() else weight._version


def _range(weight: Tensor) -> _Range:
    return _Range(weight.data_ptr(), span(weight.shape, weight.stride()) * weight.element_size())


def _forget(vendor: Constants, device: int, ranges: list[_Range]) -> None:
    while ranges:
        vendor.forget(*ranges.pop(), device)
