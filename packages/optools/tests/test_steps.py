"""Training steps are counted once, with any number of optimizers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.optim import optimizer as torch_optimizer

import dl_optools
from dl_optools.steps import STEPS


@pytest.fixture
def ended() -> Iterator[list[int]]:
    """Return the number of completed steps that a listener receives."""
    numbers: list[int] = []
    STEPS.add(numbers.append)
    yield numbers
    STEPS.remove(numbers.append)


def an_optimizer() -> torch.optim.Optimizer:
    parameter = torch.zeros(2, requires_grad=True)
    parameter.grad = torch.ones(2)
    return torch.optim.SGD([parameter], lr=0.1)


def test_an_optimizer_ends_steps(ended: list[int]) -> None:
    optimizer = an_optimizer()
    before = STEPS.number
    for _ in range(3):
        optimizer.step()
    assert ended == [before + 1, before + 2, before + 3]


def test_optimizers_that_take_turns_make_one_step_together(ended: list[int]) -> None:
    first, second = an_optimizer(), an_optimizer()
    for _ in range(4):
        first.step()
        second.step()
    assert len(ended) == 4


def test_an_optimizer_that_takes_over_goes_on_counting(ended: list[int]) -> None:
    first, second = an_optimizer(), an_optimizer()
    for _ in range(5):
        first.step()
    for _ in range(5):
        second.step()
    # The first step of the new optimizer may belong to the last step of the old one.
    assert len(ended) == 9


def test_a_program_says_itself_when_a_step_ends(ended: list[int]) -> None:
    optimizer = an_optimizer()
    for _ in range(3):
        dl_optools.step()
        optimizer.step()
    assert len(ended) == 3


def test_no_hook_stays_in_torch() -> None:
    before = dict(torch_optimizer._global_optimizer_post_hooks)
    heard: list[int] = []
    STEPS.add(heard.append)
    assert dict(torch_optimizer._global_optimizer_post_hooks) != before
    STEPS.remove(heard.append)
    assert dict(torch_optimizer._global_optimizer_post_hooks) == before
    an_optimizer().step()
    assert heard == []
