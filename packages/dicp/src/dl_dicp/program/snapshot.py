"""Snapshots of weights' versions, to detect writes after data was derived from the weights."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import torch

from dl_core import _C

State = tuple[int, tuple[tuple[int, int], ...]]
"""How often operators have written to tensors without torch's knowing, and of each weight where it
lies and how often it has been written to."""


def state_of(weights: Sequence[torch.Tensor]) -> State | None:
    """The state of weights; None where torch counts no writes to one, which was made in inference
    mode."""
    try:
        seen = tuple((weight.data_ptr(), weight._version) for weight in weights)
    except RuntimeError:
        return None
    return _C.silent_writes(), seen


class Snapshot:
    """Take a snapshot of weights. It keeps their memory alive, even if a weight moves to other
    memory: an equal address means the same weight.

    :param gone: a method that is called once a weight is no more, if its object is still there: it
        is not held.
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
