"""State of the default generators of device and host around trial runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch

from dl_core import _C


def _states(device: torch.device) -> list[tuple[torch.Generator, torch.Tensor]]:
    generators = (_C.default_generator(device.index), torch.default_generator)
    return [(each, each.get_state()) for each in generators]


def _restore(states: list[tuple[torch.Generator, torch.Tensor]]) -> None:
    for each, state in states:
        each.set_state(state)


@contextlib.contextmanager
def generators_as_they_are(device: torch.device) -> Iterator[Callable[[], None]]:
    """Context manager for several runs of one call. It yields a function that resets the generators
    to the initial state; at the end they have the state after the first run."""
    start = _states(device)
    after: list[tuple[torch.Generator, torch.Tensor]] = []

    def rewind() -> None:
        if not after:
            after.extend(_states(device))
        _restore(start)

    try:
        yield rewind
    finally:
        _restore(after)


@contextlib.contextmanager
def generators_kept(device: torch.device) -> Iterator[None]:
    """Context manager that restores the state of the generators at its end."""
    start = _states(device)
    try:
        yield
    finally:
        _restore(start)
