"""Dtypes that torch's CPU rejects, dl rejects with an error of the same type.

Results have the same dtype as on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

Call = Callable[[torch.Tensor, torch.Tensor], Any]

DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex64, torch.complex128),
)
SPECIAL = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "entr",
    "erfcx",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "ndtri",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
]
PAIRS = [
    "xlog1py",
    "zeta",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
]
UNARY = [
    "abs",
    "ceil",
    "erfinv",
    "exp",
    "fix",
    "floor",
    "frac",
    "isposinf",
    "logit",
    "neg",
    "reciprocal",
    "round",
    "sgn",
    "sign",
    "signbit",
    "sqrt",
    "trunc",
    "all",
    "amax",
    "aminmax",
    "argsort",
    "any",
    "max",
    "mean",
    "median",
    "nanmean",
    "nanmedian",
    "nansum",
    "norm",
    "prod",
    "sort",
    "std",
    "sum",
    "trace",
    "unique",
]
BINARY = [
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "clamp",
    "clamp_min",
    "copysign",
    "div",
    "eq",
    "floor_divide",
    "fmax",
    "fmod",
    "gcd",
    "heaviside",
    "hypot",
    "isin",
    "ldexp",
    "logaddexp",
    "logaddexp2",
    "logical_xor",
    "lt",
    "maximum",
    "mul",
    "nextafter",
    "pow",
    "polar",
    "remainder",
    "searchsorted",
    "sub",
    "xlogy",
]


def of_first(function: Callable[[torch.Tensor], Any]) -> Call:
    return lambda x, _: function(x)


def image(x: torch.Tensor) -> torch.Tensor:
    return x.repeat(4, 2)[None, None]


def number(value: Any, function: Callable[[torch.Tensor, Any], Any]) -> Call:
    return lambda x, _: function(x, value)


def with_bools(function: Call) -> Call:
    return lambda x, y: function(x, y != 2)


def with_integers(function: Call) -> Call:
    return lambda x, y: function(x, y.real.long())


def empty_like(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(0, dtype=dtype, device=x.device)


CALLS: dict[str, Call] = {
    **{name: of_first(getattr(torch, name)) for name in UNARY},
    **{f"special.{name}": of_first(getattr(torch.special, name)) for name in SPECIAL},
    **{name: getattr(torch, name) for name in BINARY},
    **{f"special.{name}": getattr(torch.special, name) for name in PAIRS},
    **{
        f"{name} with bools": with_bools(getattr(torch, name))
        for name in ("ldexp", "logaddexp", "nextafter", "clamp", "isin")
    },
    **{
        f"{name} with integers": with_integers(getattr(torch, name))
        for name in ("ldexp", "logaddexp", "hypot", "remainder", "pow")
    },
    **{
        f"{name} with {value!r}": number(value, getattr(torch, name))
        for name in ("isin", "remainder", "fmod", "pow", "add", "clamp")
        for value in (True, 2, 1.5, 1 + 2j)
    },
    "trunc_": of_first(lambda x: x.clone().trunc_()),
    "round_": of_first(lambda x: x.clone().round_()),
    "nextafter_": lambda x, y: x.clone().nextafter_(y),
    "median of rows": of_first(lambda x: x.median(1)),
    "nanmedian of rows": of_first(lambda x: x.nanmedian(1)),
    "kthvalue": of_first(lambda x: x.kthvalue(2)),
    "topk": of_first(lambda x: x.topk(1)),
    "mode": of_first(lambda x: x.mode(1)),
    "mean into float32": of_first(lambda x: torch.mean(x, 1, out=empty_like(x, torch.float32))),
    "mean in float32": of_first(lambda x: torch.mean(x, 1, dtype=torch.float32)),
    "nansum in complex64": of_first(lambda x: torch.nansum(x, dtype=torch.complex64)),
    "nansum into complex64": of_first(
        lambda x: torch.nansum(x, 1, out=empty_like(x, torch.complex64))
    ),
    "addcdiv": lambda x, y: torch.addcdiv(x, y, x),
    "addcdiv in place": lambda x, y: x.clone().addcdiv_(y, x),
    "addcdiv of floats": lambda x, y: torch.addcdiv(torch.ones(2, 4, device=x.device), y, x),
    "addcmul": lambda x, y: torch.addcmul(x, y, x),
    "clamp from both sides": lambda x, y: torch.clamp(x, y, y),
    "clamp in place": lambda x, y: x.clone().clamp_(y),
    "histogram": of_first(lambda x: torch.histogram(x, 3)),
    "logsigmoid": of_first(functional.logsigmoid),
    "rms_norm": of_first(lambda x: functional.rms_norm(x, [4])),
    "reflection": of_first(lambda x: functional.pad(x[None], [1, 1], mode="reflect")),
    "replication": of_first(lambda x: functional.pad(x[None], [1, 1], mode="replicate")),
    "unfold": of_first(lambda x: functional.unfold(image(x), 2)),
    "max_pool2d": of_first(lambda x: functional.max_pool2d(image(x), 2)),
    "index_reduce": lambda x, y: x.index_reduce(
        1, torch.tensor([0, 1], device=x.device), y[:, :2], "prod"
    ),
}


def operands(dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    first = torch.tensor([[0.25, 0.5, 0.75, 1.5], [2.0, 3.0, 4.0, 8.0]], dtype=torch.float64)
    second = torch.tensor([[0.5, 0.75, 1.0, 1.5], [2.0, 2.5, 3.0, 4.0]], dtype=torch.float64)
    pair = [first, second]
    if dtype == torch.bool:
        pair = [x > 1 for x in pair]
    elif not dtype.is_floating_point and not dtype.is_complex:
        pair = [2 * x + 1 for x in pair]
    a, b = (x.to(dtype).to(device) for x in pair)
    return a, b


def outcome(call: Call, dtype: torch.dtype, device: str) -> Any:
    """Return the dtypes of the results, or the type of the error."""
    try:
        result = call(*operands(dtype, device))
        if device == "dl":
            torch.dl.synchronize()  # a division by zero may be reported then
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error)
    return [x.dtype for x in ([result] if isinstance(result, torch.Tensor) else result)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_dtypes_are_taken_and_refused_as_on_the_cpu(name: str) -> None:
    want = {dtype: outcome(CALLS[name], dtype, "cpu") for dtype in DTYPES}
    assert {dtype: outcome(CALLS[name], dtype, "dl") for dtype in DTYPES} == want


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64], ids=str)
def test_wide_unsigned_numbers_have_no_sign(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 7, 65535]).to(dtype)
    assert torch.equal(torch.signbit(x.to("dl")).cpu(), torch.signbit(x))


POOLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "1d": lambda x: functional.max_pool1d(x[0, 0], 3, 1, 2, 2),
    "2d": lambda x: functional.max_pool2d(x[0], 3, 1, 2, 2),
    "2d of one axis": lambda x: functional.max_pool2d(x[0], (5, 3), 1, (2, 2), 3),
    "3d": lambda x: functional.max_pool3d(x, 3, 1, 2, 2),
    "average": lambda x: functional.avg_pool2d(x[0], 3, 1, 2),
}


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_padding_is_at_most_half_of_the_kernel_however_it_is_dilated(
    pool: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    x = torch.rand(1, 1, 9, 9, 9)
    for device in ("cpu", "dl"):
        with pytest.raises(RuntimeError, match=r"at most half|smaller than or equal to half"):
            pool(x.to(device))


def test_dilated_windows_with_padding_of_half_of_the_kernel() -> None:
    x = torch.rand(1, 2, 9, 11)
    want = functional.max_pool2d(x, (5, 3), 1, (2, 1), (2, 4), return_indices=True)
    got = functional.max_pool2d(x.to("dl"), (5, 3), 1, (2, 1), (2, 4), return_indices=True)
    for a, b in zip(got, want, strict=True):
        assert torch.equal(a.cpu(), b)
