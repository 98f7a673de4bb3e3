"""Tensors that begin empty and are written in parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics

FORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "empty_like": torch.empty_like,
    "new_empty": lambda x: x.new_empty(x.shape),
    "empty": lambda x: torch.empty(4, 3, device=x.device),
    "empty_strided": lambda x: torch.empty_strided((4, 3), (1, 4), device=x.device),
    "new_empty_strided with gaps": lambda x: x.new_empty_strided((4, 3), (8, 2)),
    "empty_permuted": lambda x: torch.empty_permuted((4, 3), (1, 0), device=x.device),
}

COPIES: dict[str, Callable[[Tensor], Tensor]] = {
    "the layout of the source": lambda x: x.new_empty_strided((4, 3), (3, 1)).copy_(x) + 1,
    "another order": lambda x: x.new_empty_strided((4, 3), (1, 4)).copy_(x) + 1,
    "gaps": lambda x: x.new_empty_strided((4, 3), (8, 2)).copy_(x) + 1,
    "broadcast": lambda x: x.new_empty_strided((2, 4, 3), (1, 2, 8)).copy_(x) + 1,
    "another dtype": lambda x: x.new_empty_strided((4, 3), (3, 1), dtype=torch.float64).copy_(x),
    "channels last": lambda x: (
        torch.empty(1, 4, 3, 1, device=x.device, memory_format=torch.channels_last).copy_(
            x[None, :, :, None]
        )
        + 1
    ),
    "two parts": lambda x: _two_parts(torch.empty_like(x), x),
}


def _two_parts(made: Tensor, x: Tensor) -> Tensor:
    made[:2].copy_(x[2:])
    made[2:].copy_(x[:2])
    return made


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_in_parts_is_in_the_graph(form: str) -> None:
    def function(x: Tensor, rows: Tensor) -> Tensor:
        made = FORMS[form](x)
        made[rows] = x * 2
        return made

    run = torch.compile(function, backend="dl")
    rows = torch.tensor([2, 0, 3, 1])
    for _ in range(3):
        x = torch.randn(4, 3)
        got = run(x.to("dl"), rows.to("dl"))
        assert torch.equal(got.cpu(), function(x, rows))
    assert not statistics.eager
    assert statistics.graphs >= 2


@pytest.mark.parametrize("form", COPIES)
def test_an_empty_tensor_that_is_copied_into_is_in_the_graph(form: str) -> None:
    run = torch.compile(COPIES[form], backend="dl")
    for _ in range(3):
        x = torch.randn(4, 3)
        got, wanted = run(x.to("dl")), COPIES[form](x)
        assert got.stride() == wanted.stride() and torch.equal(got.cpu(), wanted)
    assert not statistics.eager and not statistics.host_calls
    assert statistics.graphs == 2


def test_the_gradient_of_a_write_to_a_view_is_in_the_graph() -> None:
    """Autograd copies the gradient of the base into a new empty tensor."""

    def loss(x: Tensor, weight: Tensor) -> Tensor:
        made = x @ weight
        made[1:].relu_()
        return made.square().sum()

    run = torch.compile(loss, backend="dl")
    for _ in range(3):
        x, weight = torch.randn(4, 3), torch.randn(3, 3)
        on_dl = weight.to("dl").requires_grad_()
        weight.requires_grad_()
        run(x.to("dl"), on_dl).backward()
        loss(x, weight).backward()
        assert weight.grad is not None and on_dl.grad is not None
        assert torch.allclose(on_dl.grad.cpu(), weight.grad, atol=1e-5)
    assert not statistics.eager and not statistics.host_calls
    assert statistics.graphs == 4
