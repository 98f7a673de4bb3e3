"""Sizes whose product overflows are rejected, wherever memory grows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

HUGE = 2**31

GROWING: dict[str, Callable[[str], object]] = {
    "resize_": lambda device: torch.empty(0, device=device).resize_(HUGE, HUGE),
    "resize_ that wraps to few": lambda device: torch.empty(0, device=device).resize_(2**62, 2, 2),
    "eye": lambda device: torch.eye(HUGE, device=device),
    "out": lambda device: torch.add(
        torch.ones(1, device=device).expand(HUGE, HUGE), 1, out=torch.empty(0, device=device)
    ),
    "empty": lambda device: torch.empty(HUGE, HUGE, device=device),
}


@pytest.mark.parametrize("device", ["cpu", "dl"])
@pytest.mark.parametrize("grow", GROWING.values(), ids=GROWING)
def test_such_sizes_are_refused(grow: Callable[[str], object], device: str) -> None:
    with pytest.raises(RuntimeError, match="overflow"):
        grow(device)


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(RuntimeError, match="negative dimension -2"):
        torch.empty(3, device="dl").resize_(-2, 3)


def test_a_tensor_without_elements_takes_any_shape() -> None:
    assert torch.empty(0, device="dl").resize_(HUGE, 0, HUGE).shape == (HUGE, 0, HUGE)
