"""Calls that torch's CPU rejects are rejected on dl, by the same class of error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

F = torch.nn.functional
Call = Callable[[str], Any]


def make_ones(*shape: int, device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, device=device, dtype=dtype)


CALLS: dict[str, Call] = {
    "ldexp_ that would enlarge its tensor": lambda device: make_ones(
        10, 1, 5, device=device
    ).ldexp_(make_ones(10, 5, device=device)),
    "any into float32": lambda device: torch.any(
        make_ones(2, 2, device=device), dim=(0, 1), out=make_ones(0, device=device)
    ),
    "all into float32 along a dimension out of range": lambda device: torch.all(
        make_ones(2, 2, device=device), dim=(7,), out=make_ones(0, device=device)
    ),
    "index_reduce of a source without dimensions": lambda device: torch.index_reduce(
        make_ones(1, device=device),
        0,
        make_ones(1, device=device).long() - 1,
        make_ones(device=device),
        "mean",
    ),
    "instance_norm with one running statistic": lambda device: F.instance_norm(
        make_ones(3, 2, 4, device=device), running_mean=make_ones(2, device=device)
    ),
    "batch_norm with a statistic without dimensions": lambda device: F.batch_norm(
        make_ones(2, 1, device=device), make_ones(device=device), make_ones(1, device=device)
    ),
    "fractional_max_pool3d of windows as large as the volume": lambda device: (
        F.fractional_max_pool3d(make_ones(1, 1, 8, 7, 6, device=device), (7, 3, 2), output_size=2)
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_same_class_of_error_is_raised(call: Call) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever the CPU raises
        call("cpu")
    with pytest.raises(type(expected.value)):
        call("dl")


def test_one_label_for_a_score_without_dimensions_is_accepted() -> None:
    losses = [
        F.multilabel_margin_loss(torch.tensor(5.0, device=device), torch.tensor([0], device=device))
        for device in ("cpu", "dl")
    ]
    assert losses[0] == losses[1].cpu()


@pytest.mark.parametrize("device", ["cpu", "dl"])
def test_margins_that_are_nan_are_not_violated(device: str) -> None:
    scores = torch.tensor([[torch.inf, 1.0, torch.inf]], device=device)
    assert F.multi_margin_loss(scores, torch.tensor([0], device=device)) == 0
    assert F.multilabel_margin_loss(scores, torch.tensor([[0, -1, 0]], device=device)) == 0


def test_shuffling_one_group_copies() -> None:
    image = torch.randn(1, 4, 3, 3, device="dl")
    assert F.channel_shuffle(image, 1).data_ptr() != image.data_ptr()
