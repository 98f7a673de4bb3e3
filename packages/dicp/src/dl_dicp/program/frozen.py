"""Frozen weights, which are declared as constants so that the vendor may prepack them.

Writes to a weight through torch, and replaced weights, are noticed before the next call. Writes
that torch's version counter does not see, as through ``weight.data``, are not.
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
from dl_dicp.program.snapshot import Snapshot, state_of
from dl_dicp.recording.memory import span

if TYPE_CHECKING:
    from diopi_proto.constants import Constants


class _Range(NamedTuple):
    memory: int
    bytes: int


class FrozenWeights:
    """Frozen weights of a compiled graph."""

    def __init__(self, device: torch.device, arguments: Sequence[Any], written: set[int]) -> None:
        """Find the weights among a call's ``arguments``: parameters that no call writes to."""
        self._places = [
            place
            for place, value in enumerate(arguments)
            if isinstance(value, torch.nn.Parameter)
            and value.device == device
            and value.is_floating_point()
            and value.ndim >= 2
            and place not in written
        ]
        self._found = constants.extension(device.index) if self._places else None
        self._lock = threading.RLock()
        self._snapshot: Snapshot | None = None
        self._ranges: list[_Range] = []
        if self._found is not None:
            forgotten = weakref.finalize(self, _forget, *self._found, self._ranges)
            forgotten.atexit = False  # the memory is freed at process exit

    @contextmanager
    def used(self, arguments: Sequence[Any]) -> Iterator[None]:
        """Context manager in which calls use the vendor's cached data for the weights."""
        if self._found is None or not self._declared([arguments[i] for i in self._places]):
            yield
            return
        vendor, device = self._found
        vendor.use(True, device)
        try:
            yield
        finally:
            vendor.use(False, device)

    def _declared(self, weights: list[Tensor]) -> bool:
        """Return True if the vendor may cache data that it derives from the current weights."""
        state = state_of(weights)
        known = self._snapshot
        if known is not None and known.state == state:
            return True
        with self._lock:
            self._drop()
            if state is None:
                return False
            assert self._found is not None
            vendor, device = self._found
            self._snapshot = Snapshot(weights, state, self._drop)
            for weight in weights:
                found = _range(weight)
                vendor.declare(*found, device)
                self._ranges.append(found)
        return True

    def _drop(self) -> None:
        """Withdraw the declarations if a weight was deleted or replaced."""
        assert self._found is not None
        with self._lock:
            self._snapshot = None
            _forget(*self._found, self._ranges)


def _range(weight: Tensor) -> _Range:
    return _Range(weight.data_ptr(), span(weight.shape, weight.stride()) * weight.element_size())


def _forget(vendor: Constants, device: int, ranges: list[_Range]) -> None:
    while ranges:
        vendor.forget(*ranges.pop(), device)
