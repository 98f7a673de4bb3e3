"""Rare dtypes: operators that support them on the CPU do so on dl."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

# Torch warns that complex32 is experimental.
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


@contextmanager
def no_fallback() -> Iterator[None]:
    """Forbid the fallback to the CPU."""
    with torch.dl.fallback("error"):
        yield


def outcome(call: Callable[[str], torch.Tensor], device: str) -> Any:
    """Return the elements of a result as bytes, with its metadata, or the error's message."""
    try:
        result = call(device).cpu().contiguous()
    except (RuntimeError, TypeError) as error:
        return str(error)
    return result.dtype, result.shape, result.flatten().view(torch.uint8).tolist()


@pytest.mark.parametrize("value", [2**63 - 1, 2**63, 2**64 - 1])
def test_uint64_holds_numbers_beyond_those_of_int64(value: int) -> None:
    made = torch.full((2,), value, dtype=torch.uint64, device="dl")
    assert made.cpu().tolist() == [value, value]
    assert torch.zeros(2, dtype=torch.uint64, device="dl").fill_(value).tolist() == [value, value]
    as_float = torch.full((2,), value, dtype=torch.float32, device="dl")
    assert torch.equal(as_float.cpu(), torch.full((2,), value, dtype=torch.float32))


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("value", [0, 2**63 - 1, 2**63, 2**64 - 1, -1])
def test_uint64_is_filled_natively(value: int) -> None:
    target = torch.zeros(3, dtype=torch.uint64, device="dl")
    with no_fallback():
        target.fill_(value)
        target[1:].masked_fill_(torch.tensor([True, False], device="dl"), value)
    assert target.tolist() == [value % 2**64] * 3


PADDED = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
)


def padded(dtype: torch.dtype, value: Any) -> Callable[[str], torch.Tensor]:
    def call(device: str) -> torch.Tensor:
        x = torch.arange(6, device=device).reshape(2, 3).to(dtype)
        return torch.nn.functional.pad(x, (1, -1, 2, 0), value=value)

    return call


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("value", [None, 0, 1, 7.0, 2.75])
@pytest.mark.parametrize("dtype", PADDED, ids=str)
def test_constant_padding_is_native(dtype: torch.dtype, value: Any) -> None:
    want = outcome(padded(dtype, value), "cpu")
    with no_fallback():
        assert outcome(padded(dtype, value), "dl") == want


BOUNDS = {
    f"{dtype} {value}": (dtype, value)
    for dtype in (torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint64)
    for value in (torch.iinfo(dtype).min, torch.iinfo(dtype).max, torch.iinfo(dtype).max // 2 + 2)
}


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize(("dtype", "value"), BOUNDS.values(), ids=BOUNDS)
def test_integers_that_no_double_holds_pad(dtype: torch.dtype, value: int) -> None:
    want = outcome(padded(dtype, value), "cpu")
    with no_fallback():
        assert outcome(padded(dtype, value), "dl") == want


@pytest.mark.parametrize(
    "value",
    [
        *(-3, True, 2**31, 2**53 + 1, 2**63, 2**64 - 1),
        *(-0.0, 1e300, math.inf, math.nan),
        *(2 + 0j, complex(2, -0.0), 1 + 2j),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", PADDED, ids=str)
def test_padding_takes_and_refuses_the_numbers_that_the_cpu_does(
    dtype: torch.dtype, value: Any
) -> None:
    assert outcome(padded(dtype, value), "dl") == outcome(padded(dtype, value), "cpu")
    filled = [
        outcome(lambda device: torch.zeros(3, dtype=dtype, device=device).fill_(value), device)
        for device in ("dl", "cpu")
    ]
    assert filled[0] == filled[1]


def test_padding_writes_to_a_given_tensor() -> None:
    x = torch.arange(3, device="dl")
    for value in (7, 2**62 + 1):
        out = torch.empty(0, dtype=torch.int64, device="dl")
        torch.ops.aten.constant_pad_nd.out(x, [1, 0], value, out=out)
        assert out.tolist() == [value, 0, 1, 2]


INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64)
SETTERS: dict[str, Callable[[torch.Tensor, Any], torch.Tensor]] = {
    "fill_": lambda x, value: x.fill_(value),
    "masked_fill_": lambda x, value: x.masked_fill_(x > 1, value),
    "index_fill_": lambda x, value: x.index_fill_(0, torch.tensor([2, 0], device=x.device), value),
    "scatter_": lambda x, value: x.scatter_(0, torch.tensor([2, 0], device=x.device), value),
}


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("value", [0.0, 0.5, 2.0, 2.75, -1.5, 100.25, math.inf, math.nan, 1e30])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", SETTERS)
def test_integers_are_set_to_floats_as_on_the_cpu(
    name: str, dtype: torch.dtype, value: float
) -> None:
    def call(device: str) -> torch.Tensor:
        return SETTERS[name](torch.arange(3, device=device).to(dtype), value)

    want = outcome(call, "cpu")
    assert outcome(call, "dl") == want
    if not isinstance(want, str):
        with no_fallback():
            assert outcome(call, "dl") == want


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64], ids=str)
def test_wide_unsigned_numbers_have_bits(dtype: torch.dtype) -> None:
    a, b = torch.tensor([5, 7, 0, 65535]).to(dtype), torch.tensor([1, 7, 9, 1]).to(dtype)
    assert torch.equal((a.to("dl") ^ b.to("dl")).cpu(), a ^ b)


def test_integers_have_no_hypotenuse() -> None:
    with pytest.raises(NotImplementedError, match="hypot"):
        torch.hypot(torch.tensor([3], device="dl"), torch.tensor([4], device="dl"))


BOUNDS: dict[str, Callable[[str], torch.Tensor]] = {
    "int8 clamp": lambda device: torch.arange(4, dtype=torch.int8, device=device).clamp(
        -1000, 1000
    ),
    "uint8 clamp_min": lambda device: torch.arange(4, dtype=torch.uint8, device=device).clamp_min(
        300
    ),
    "int32 clamp": lambda device: torch.arange(4, dtype=torch.int32, device=device).clamp(
        max=2**40
    ),
    "int16 clamp in place": lambda device: torch.arange(
        4, dtype=torch.int16, device=device
    ).clamp_max_(-(2**20)),
    "int8 threshold": lambda device: torch.nn.functional.threshold(
        torch.arange(3, dtype=torch.int8, device=device), 300, 400
    ),
    "float16 clamp": lambda device: torch.zeros(1, dtype=torch.float16, device=device).clamp(
        min=1e10
    ),
    "float16 clamp to infinity": lambda device: torch.ones(
        1, dtype=torch.float16, device=device
    ).clamp(max=math.inf),
    "float32 clamp": lambda device: torch.ones(1, device=device).clamp(max=1e300),
}


@pytest.mark.parametrize("call", BOUNDS.values(), ids=BOUNDS)
def test_bounds_that_the_dtype_does_not_hold_are_the_cpus_affair(
    call: Callable[[str], torch.Tensor],
) -> None:
    try:
        want = call("cpu")
    except RuntimeError as error:
        with pytest.raises(type(error), match="without overflow"):
            call("dl")
        return
    assert torch.equal(call("dl").cpu(), want)
