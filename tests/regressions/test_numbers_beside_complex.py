"""Complex Python scalars with tensors: computed on the device, not on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

NUMBERS = (1j, 2.5 - 0.5j, complex(-0.0, float("inf")))

CALLS: dict[str, Callable[[torch.Tensor, complex], torch.Tensor]] = {
    "mul": lambda x, number: x * number,
    "add": lambda x, number: x + number,
    "sub": lambda x, number: x - number,
    "div": lambda x, number: x / number,
    "number minus": lambda x, number: number - x,
    "eq": lambda x, number: x == number,
    "ne": lambda x, number: x != number,
    "add_": lambda x, number: x.add_(number),
    "fill_": lambda x, number: x.fill_(number),
    "fill_ of a part": lambda x, number: x[::2].fill_(number),
    "full": lambda x, number: torch.full((2,), number, device=x.device, dtype=x.dtype),
    "with floats": lambda x, number: x.real * number,
    "out": lambda x, number: torch.mul(x, number, out=torch.empty_like(x)),
    "eq out": lambda x, number: torch.eq(
        x, number, out=torch.empty(4, dtype=torch.bool, device=x.device)
    ),
}


def numbers(device: str, dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([1j, 2.5 - 0.5j, 3, -1 - 1j], dtype=dtype).to(device)


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("number", NUMBERS, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_complex_numbers_stay_on_the_device(name: str, number: complex, dtype: torch.dtype) -> None:
    expected = CALLS[name](numbers("cpu", dtype), number)
    x = numbers("dl", dtype)
    torch.dl.reset_fallback_stats()
    result = CALLS[name](x, number)
    assert torch.dl.fallback_stats() == {}
    assert result.dtype == expected.dtype
    torch.testing.assert_close(result.cpu(), expected, equal_nan=True)


def test_a_complex_number_that_the_dtype_does_not_hold_is_refused() -> None:
    x = numbers("dl", torch.complex64)
    with pytest.raises(RuntimeError, match="without overflow"):
        x.fill_(complex(0, 1e300))
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.ones(2, device="dl").fill_(1j)
    assert torch.equal(x.cpu(), numbers("cpu", torch.complex64))
