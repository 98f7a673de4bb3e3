"""Dtypes that few operators have: what the CPU computes in them, dl does."""

from __future__ import annotations

import pytest
import torch

# Torch says of complex32 that it is experimental.
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")


def selected(device: str) -> torch.Tensor:
    x = torch.arange(12, dtype=torch.float32).reshape(4, 3).to(torch.complex32)
    x = x.to(device).requires_grad_()
    picked = x.index_select(0, torch.tensor([0, 2, 0], device=device))
    (gradient,) = torch.autograd.grad(picked, x, torch.ones_like(picked))
    return gradient.cpu()


def test_the_gradient_of_index_select_in_complex32() -> None:
    # complex32 has no comparison of its own.
    assert torch.equal(selected("dl").to(torch.complex64), selected("cpu").to(torch.complex64))


def test_index_add_in_complex32() -> None:
    target = torch.zeros(3, 2, dtype=torch.complex32, device="dl")
    target.index_add_(
        0,
        torch.tensor([2, 2], device="dl"),
        torch.ones(2, 2, dtype=torch.complex32, device="dl"),
    )
    assert target.to(torch.complex64).real.tolist() == [[0, 0], [0, 0], [2, 2]]


@pytest.mark.parametrize("value", [2**63 - 1, 2**63, 2**64 - 1])
def test_uint64_holds_numbers_beyond_those_of_int64(value: int) -> None:
    made = torch.full((2,), value, dtype=torch.uint64, device="dl")
    assert made.cpu().tolist() == [value, value]
    assert torch.zeros(2, dtype=torch.uint64, device="dl").fill_(value).tolist() == [value, value]
    as_float = torch.full((2,), value, dtype=torch.float32, device="dl")
    assert torch.equal(as_float.cpu(), torch.full((2,), value, dtype=torch.float32))
