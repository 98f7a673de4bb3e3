"""``ldexp`` is right wherever its result is representable, although 2**exponent may not be.

The reference is Python's ``math.ldexp``, rounded once to the dtype.
"""

from __future__ import annotations

import math

import pytest
import torch

# Devices that lack its parts run torch's CPU kernel.
pytestmark = pytest.mark.vendor("cpu")

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def extremes(dtype: torch.dtype) -> torch.Tensor:
    limits = torch.finfo(dtype)
    normal = [limits.max, -limits.max, limits.tiny, 1.5, 0.0, -0.0, math.inf, -math.inf]
    # The smallest subnormal numbers.
    bits = torch.tensor([1, 2, 3, 5, 77], dtype=BITS[dtype.itemsize])
    return torch.cat([torch.tensor(normal, dtype=dtype), bits.view(dtype), -bits.view(dtype)])


def scaled(x: torch.Tensor, exponents: torch.Tensor) -> torch.Tensor:
    """Return x · 2**exponents in float64, which represents the tested results exactly."""

    def one(number: float, exponent: int) -> float:
        try:
            return math.ldexp(number, exponent)
        except OverflowError:
            return math.copysign(math.inf, number)

    pairs = zip(x.double().tolist(), exponents.tolist(), strict=True)
    return torch.tensor([one(*pair) for pair in pairs], dtype=torch.float64).to(x.dtype)


def assert_same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.dtype == theirs.dtype
    bits = BITS[theirs.itemsize]
    torch.testing.assert_close(ours.cpu().view(bits), theirs.view(bits), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extreme_numbers_survive_frexp_and_ldexp(dtype: torch.dtype) -> None:
    x = extremes(dtype)
    assert_same(torch.ldexp(*torch.frexp(x.to("dl"))), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponents", [torch.int16, torch.int32, torch.int64])
def test_results_are_rounded_once(dtype: torch.dtype, exponents: torch.dtype) -> None:
    torch.manual_seed(0)
    reach = 2200 if dtype == torch.float64 else 330
    exponent = torch.randint(-reach, reach, (4000,)).to(exponents)
    # Half of the results are near 1, the others are spread over the range.
    near = torch.ldexp(torch.randn(2000, dtype=torch.float64), -exponent[:2000].long())
    wide = torch.ldexp(
        torch.randn(2000, dtype=torch.float64), torch.randint(-reach, reach, (2000,))
    )
    x = torch.cat([near, wide]).to(dtype)
    x = x.masked_fill(~x.isfinite(), 0)
    want = scaled(x, exponent)
    at = exponent.to("dl")
    assert_same(torch.ldexp(x.to("dl"), at), want)
    assert_same(torch.ldexp(x.to("dl"), at, out=torch.empty(0, dtype=dtype, device="dl")), want)
    assert_same(x.to("dl").ldexp_(at), want)


def test_integers_are_scaled_as_floats() -> None:
    x, exponent = torch.tensor([1 << 20, -3, 7]), torch.tensor([-150, -140, 3])
    assert_same(torch.ldexp(x.to("dl"), exponent.to("dl")), scaled(x.float(), exponent))


# torch's CPU resizes a result of its own.
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_host_scalars_are_taken_on_either_side() -> None:
    exponent = torch.tensor([1, -3, 200])
    for number in (torch.tensor(1.5), torch.tensor(1.5, dtype=torch.float64)):
        assert_same(torch.ldexp(number, exponent.to("dl")), torch.ldexp(number, exponent))
    x = torch.tensor([1.0, 2.0**-120])
    assert_same(torch.ldexp(x.to("dl"), torch.tensor(130)), torch.ldexp(x, torch.tensor(130)))
    floats = exponent.float()
    assert_same(
        torch.ldexp(torch.tensor(1.5), floats.to("dl")), torch.ldexp(1.5 + 0 * floats, floats)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_are_scaled_as_results(dtype: torch.dtype) -> None:
    exponent = torch.tensor([-1, 3, 130, -140])
    # The largest power below the range of float32.
    upstream = (-exponent).clamp(max=126)
    arriving = torch.ldexp(torch.ones(4, dtype=dtype), upstream)
    for in_place in (False, True):
        x = torch.ones(4, dtype=dtype, device="dl", requires_grad=True)
        given = exponent.to("dl")
        y = (x * 1).ldexp_(given) if in_place else torch.ldexp(x, given)
        y.backward(arriving.to("dl"))
        assert x.grad is not None
        assert_same(x.grad, torch.ldexp(torch.ones(4, dtype=dtype), upstream + exponent))
