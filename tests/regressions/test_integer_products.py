"""Products of integers with an addend or a vector, computed by the device's products and sums."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

Operands = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

CALLS: dict[str, Callable[[Operands], torch.Tensor]] = {
    "mv": lambda t: torch.mv(t[0], t[1][:, 0]),
    "addmm": lambda t: torch.addmm(t[2], t[0], t[1]),
    "addmm of a row": lambda t: torch.addmm(t[2][0], t[0], t[1], beta=3, alpha=2),
    "addmm without the summand": lambda t: torch.addmm(t[2], t[0], t[1], beta=0, alpha=-1),
    "addmm out": lambda t: torch.addmm(t[2], t[0], t[1], out=torch.empty_like(t[2])),
    "addmm_": lambda t: t[2].addmm_(t[0], t[1], beta=2),
    "addmv": lambda t: torch.addmv(t[2][:, 0], t[0], t[1][:, 0], beta=2, alpha=3),
    "addmv_": lambda t: t[2][:, 0].clone().addmv_(t[0], t[1][:, 0]),
    "addbmm": lambda t: torch.addbmm(t[2], t[0][None], t[1][None]),
    "baddbmm": lambda t: torch.baddbmm(t[2], t[0][None], t[1][None], beta=2, alpha=3),
    "baddbmm_": lambda t: t[2][None].clone().baddbmm_(t[0][None], t[1][None]),
}


def operands(device: str, dtype: torch.dtype) -> Operands:
    """Return matrices of shapes 2x3, 3x4 and 2x4."""
    first = torch.arange(6, dtype=dtype).view(2, 3)
    second = torch.arange(12, dtype=dtype).view(3, 4)
    summand = torch.arange(8, dtype=dtype).view(2, 4)
    return first.to(device), second.to(device), summand.to(device)


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("dtype", [torch.int64, torch.int8], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_products_of_integers_stay_on_the_device(name: str, dtype: torch.dtype) -> None:
    expected = CALLS[name](operands("cpu", dtype))
    given = operands("dl", dtype)
    torch.dl.reset_fallback_stats()
    result = CALLS[name](given)
    assert torch.dl.fallback_stats() == {}
    assert torch.equal(result.cpu(), expected)
    assert result.dtype == dtype


def test_what_torch_refuses_of_integers_is_refused() -> None:
    first, second, summand = operands("dl", torch.int64)
    with pytest.raises(RuntimeError):
        torch.addmm(summand, first, second.t())
    with pytest.raises(RuntimeError):
        torch.addmm(summand.int(), first, second)
