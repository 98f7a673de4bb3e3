"""Operators on a tensor and a scalar stay in the graph and agree with eager mode."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics

CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "rsub": lambda x: 1.0 - x,
    "rsub, alpha": lambda x: torch.rsub(x, 3, alpha=2),
    "pow": lambda x: 2.1**x,
    "remainder": lambda x: 7 % x,
    "fmod": lambda x: torch.fmod(x, 2),
    "xlogy": lambda x: torch.xlogy(x, 2.1),
    "xlogy of a number": lambda x: torch.xlogy(2, x),
    "floor_divide": lambda x: 50 // x,
    "floor_divide by a number": lambda x: x // 3,
    # Host scalars in tensors.
    "sub": lambda x: torch.tensor(2.0) - x,
    "sub, an integer": lambda x: torch.tensor(200) - x,
    "maximum": lambda x: torch.maximum(x, torch.tensor(5)),
    "clamp": lambda x: x.clamp(min=torch.tensor(3.5)),
    "masked_fill": lambda x: x.masked_fill(x > 4, torch.tensor(7, dtype=x.dtype)),
    "ldexp": lambda x: torch.ldexp(x, torch.tensor(3)),
}

FLOATS = [torch.float32, torch.float64, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.uint8]


def check(function: Callable[[Tensor], Tensor], x: Tensor) -> None:
    torch._dynamo.reset()
    run = torch.compile(function, backend="dl")
    with torch.no_grad():
        wanted = function(x)
        for _ in range(2):
            run(x)
        before = statistics.snapshot()
        given = run(x)
        after = statistics.snapshot()
    assert after.graphs == before.graphs + 1 and after.host_calls == before.host_calls
    assert given.dtype == wanted.dtype and torch.equal(given.cpu(), wanted.cpu())


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_a_number_is_no_reason_to_leave_the_graph(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = (torch.rand(5, 7) * 8 + 1).to(dtype).to("dl")
    check(CASES[name], x)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.bfloat16], ids=str)
def test_powers_of_two_outside_of_the_range_scale_numbers(dtype: torch.dtype) -> None:
    limits = torch.finfo(dtype)
    x = torch.tensor([limits.max, limits.tiny, limits.smallest_normal / 4, 1.5], dtype=dtype)
    mantissas, exponents = (each.to("dl") for each in torch.frexp(x))
    check(lambda mantissas: torch.ldexp(mantissas, exponents), mantissas)
    run = torch.compile(torch.ldexp, backend="dl")
    for _ in range(3):
        assert torch.equal(run(mantissas, exponents).cpu(), x)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_and_bits(dtype: torch.dtype) -> None:
    check(lambda x: x ^ 3, torch.arange(1, 9).to(dtype).to("dl"))


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.int16, torch.float16], ids=str)
@pytest.mark.parametrize("name", [*CASES, "large", "bits"])
def test_beside_a_tensor_without_dimensions_a_number_does_not_decide(
    name: str, dtype: torch.dtype
) -> None:
    if name == "bits" and dtype.is_floating_point:
        pytest.skip("floats have no bits")
    function = {**CASES, "large": lambda x: 300**x, "bits": lambda x: x ^ 300}[name]
    x = torch.tensor(3).to(dtype).to("dl")
    run = torch.compile(function, backend="dl")
    for _ in range(2):
        given, wanted = run(x), function(x)
        assert given.dtype == wanted.dtype and torch.equal(given.cpu(), wanted.cpu())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64], ids=str)
@pytest.mark.parametrize("number", [0.0, 2])
def test_a_number_next_to_tensors_without_dimensions_is_in_the_graph(
    number: float, dtype: torch.dtype
) -> None:
    check(lambda x: torch.tensor(number) + x.sum(), torch.arange(6, device="dl").to(dtype))


def test_masked_fill_with_a_number_of_another_dtype() -> None:
    x = torch.randn(5, 7).to("dl")
    check(lambda x: x.masked_fill(x > 0, torch.tensor(7)), x)
    check(lambda x: x.masked_fill(x > 0, torch.tensor(7, device="dl")), x)
    small = torch.ones(3, dtype=torch.uint8, device="dl")
    run = torch.compile(lambda x: x.masked_fill(x > 0, torch.tensor(300)), backend="dl")
    with pytest.raises(RuntimeError, match="overflow"):
        run(small)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("places", [0, 2, 6])
def test_shifts(dtype: torch.dtype, places: int) -> None:
    lowest = torch.iinfo(dtype).min
    x = torch.cat([torch.arange(lowest, lowest + 5), torch.arange(60, 260)]).to(dtype).to("dl")
    check(lambda x: x << places, x)
    check(lambda x: x >> places, x)


def test_a_shift_by_as_many_places_as_there_are_is_left_to_eager_mode() -> None:
    x = torch.arange(-4, 9).to(torch.int32).to("dl")
    for places in (31, 40):
        run = torch.compile(lambda x, n=places: (x << n, x >> n), backend="dl")
        for given, wanted in zip(run(x), (x << places, x >> places), strict=True):
            assert torch.equal(given.cpu(), wanted.cpu())


def test_a_number_of_the_host_that_changes_is_read_anew() -> None:
    run = torch.compile(lambda x, number: torch.maximum(x, number), backend="dl")
    x = torch.arange(6.0).to("dl")
    for value in (2.0, 2.0, 4.0, 1.0):
        number = torch.tensor(value)
        assert torch.equal(run(x, number).cpu(), torch.maximum(x.cpu(), number))


def test_truth_and_signs() -> None:
    x = torch.randn(5, 7).to("dl")
    check(lambda x: (x > 0) ^ True, x)
    check(lambda x: torch.copysign(x, -1.0), x)
