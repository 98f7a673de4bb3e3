"""Snapshots of weights' versions, to detect writes after data was derived from the weights."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import torch

from dl_core import _C

State = tuple[int, tuple[tuple[int, int], ...]]
"""Number of writes that torch's version counters do not see, and for each weight its address and
its version."""


def state_of(weights: Sequence[torch.Tensor]) -> State | None:
    """Return the state of weights, or None if any weight was created in inference mode, so that
    torch does not count writes to it."""
    try:
        seen = tuple((weight.data_ptr(), weight._version) for weight in weights)
    except RuntimeError:
        return None
    return _C.silent_writes(), seen


class Snapshot:
    """Snapshot of weights. It keeps their memory alive even if a weight moves to other memory, so
    that an equal address means the same weight.

    :param gone: bound method to call when a weight is deleted. It is referenced weakly, and not
        called if its object no longer exists.
    """

    def __init__(
        self, weights: Sequence[torch.Tensor], state: State, gone: Callable[[], None]
    ) -> None:
        self.state = state
        self._memory = [weight.detach() for weight in weights]
        method = weakref.WeakMethod(gone)

        def call(_: object) -> None:
            if (found := method()) is not None:
                found()

        self._weights = [weakref.ref(weight, call) for weight in weights]
