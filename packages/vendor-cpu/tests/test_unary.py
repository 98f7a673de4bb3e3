"""Functions of one number, in all dtypes and layouts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import (
    FLOATS,
    INTS,
    LAYOUTS,
    NUMBERS,
    REALS,
    check,
    laid_out,
    numbers,
    out_like,
    place,
    stored,
    units_of_last_place,
)

Function = Callable[[Any], Any]

erf = np.vectorize(math.erf, otypes=[np.longdouble])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# name: (reference, class, low, high, has an in-place form)
FUNCTIONS: dict[str, tuple[Function, OpClass, float, float, bool]] = {
    "Sqrt": (np.sqrt, OpClass.ROUNDING, 0.0, 9.0, True),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), OpClass.ELEMENTARY, 0.01, 9.0, True),
    "Reciprocal": (lambda x: 1 / x, OpClass.ROUNDING, 0.1, 9.0, True),
    "Exp": (np.exp, OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Expm1": (np.expm1, OpClass.ELEMENTARY, -3.0, 3.0, True),
    "Log": (np.log, OpClass.ELEMENTARY, 0.01, 30.0, True),
    "Log2": (np.log2, OpClass.ELEMENTARY, 0.01, 30.0, True),
    "Log10": (np.log10, OpClass.ELEMENTARY, 0.01, 30.0, True),
    "Log1p": (np.log1p, OpClass.ELEMENTARY, -0.9, 30.0, True),
    "Sin": (np.sin, OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Cos": (np.cos, OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Tan": (np.tan, OpClass.ELEMENTARY, -1.5, 1.5, True),
    "Asin": (np.arcsin, OpClass.ELEMENTARY, -1.0, 1.0, True),
    "Acos": (np.arccos, OpClass.ELEMENTARY, -1.0, 1.0, True),
    "Atan": (np.arctan, OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Sinh": (np.sinh, OpClass.ELEMENTARY, -5.0, 5.0, True),
    "Cosh": (np.cosh, OpClass.ELEMENTARY, -5.0, 5.0, True),
    "Tanh": (np.tanh, OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Asinh": (np.arcsinh, OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Acosh": (np.arccosh, OpClass.ELEMENTARY, 1.0, 9.0, True),
    "Atanh": (np.arctanh, OpClass.ELEMENTARY, -0.9, 0.9, True),
    "Sigmoid": (sigmoid, OpClass.ELEMENTARY, -20.0, 20.0, True),
    "Erf": (erf, OpClass.ELEMENTARY, -4.0, 4.0, True),
    "Silu": (lambda x: x * sigmoid(x), OpClass.ELEMENTARY, -9.0, 9.0, True),
    "Hardswish": (lambda x: x * np.clip(x + 3, 0, 6) / 6, OpClass.ELEMENTARY, -5.0, 5.0, True),
}

# These work on integers too.
STEPS: dict[str, tuple[Function, tuple[str, ...], bool]] = {
    "Neg": (np.negative, NUMBERS, True),
    "Abs": (np.abs, NUMBERS, True),
    "Sign": (np.sign, NUMBERS, False),
    "Sgn": (np.sign, NUMBERS, True),
    "Floor": (np.floor, FLOATS, True),
    "Ceil": (np.ceil, FLOATS, True),
    "Relu": (lambda x: np.maximum(x, 0), NUMBERS, True),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    reference, op_class, low, high, in_place = FUNCTIONS[name]
    x, values = place(vendor, numbers((3, 5, 37), dtype, 1, low, high), dtype, layout)
    out = out_like(vendor, (3, 5, 37), dtype, layout)
    vendor.op[f"diopi{name}"](out, x)
    check(out, reference(values), op_class, name)
    if in_place:
        vendor.op[f"diopi{name}Inp"](x)
        assert np.array_equal(x.numpy(), out.numpy())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    reference, op_class, low, high, _ = FUNCTIONS[name]
    x, values = place(vendor, numbers((100_003,), "float32", 2, low, high), "float32")
    out = out_like(vendor, (100_003,), "float32")
    vendor.op[f"diopi{name}"](out, x)
    check(out, reference(values), op_class, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, s in STEPS.items() for d in s[1]])
def test_step_is_exact(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    reference, _, in_place = STEPS[name]
    x, values = place(vendor, numbers((4, 33), dtype, 3, -9, 9), dtype, layout)
    out = out_like(vendor, (4, 33), dtype, layout)
    vendor.op[f"diopi{name}"](out, x)
    check(out, reference(values), OpClass.EXACT, name)
    if in_place:
        vendor.op[f"diopi{name}Inp"](x)
        assert np.array_equal(x.numpy(), out.numpy())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1)])
def test_shapes_without_extent(vendor: Vendor, shape: tuple[int, ...]) -> None:
    x, values = place(vendor, numbers(shape, "float32", 4), "float32")
    out = out_like(vendor, shape, "float32")
    vendor.op.Exp(out, x)
    check(out, np.exp(values), OpClass.ELEMENTARY, "Exp")


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    x, values = place(vendor, special, dtype)
    out = out_like(vendor, (5,), dtype)
    with np.errstate(all="ignore"):
        for name in ("Exp", "Tanh", "Sigmoid", "Relu", "Log", "Sqrt", "Floor"):
            vendor.op[f"diopi{name}"](out, x)
            reference = FUNCTIONS[name][0] if name in FUNCTIONS else STEPS[name][0]
            check(out, reference(values), OpClass.EXACT, name)


def test_exp_over_its_whole_range(vendor: Vendor) -> None:
    x, values = place(vendor, np.linspace(-110.0, 95.0, 40_001), "float32")
    out = out_like(vendor, (40_001,), "float32")
    vendor.op.Exp(out, x)
    check(out, np.exp(values), OpClass.ELEMENTARY, "Exp")


def test_log_of_subnormal_numbers(vendor: Vendor) -> None:
    x, values = place(vendor, np.ldexp(1.0, np.arange(-149, 128)) * 1.3, "float32")
    out = out_like(vendor, values.shape, "float32")
    vendor.op.Log(out, x)
    check(out, np.log(values), OpClass.ELEMENTARY, "Log")


@pytest.mark.parametrize("dtype", REALS)
def test_is_nan(vendor: Vendor, dtype: str) -> None:
    source = np.array([1.0, np.nan, 0.0]) if dtype in FLOATS else np.array([1, 0, 1])
    out = out_like(vendor, (3,), "bool")
    vendor.op.IsNan(out, place(vendor, source, dtype)[0])
    assert out.numpy().tolist() == [False, dtype in FLOATS, False]


def test_every_half_is_converted_both_ways(vendor: Vendor) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    for dtype, source in (("float16", bits.view(np.float16)), ("bfloat16", bits)):
        x = vendor.tensor(source, dtype=dtype)
        wide = out_like(vendor, bits.shape, "float32")
        vendor.op.CastDtype(wide, x)
        assert np.array_equal(wide.numpy(), x.float32().astype(np.float32), equal_nan=True)
        back = out_like(vendor, bits.shape, dtype)
        vendor.op.CastDtype(back, wide)
        finite = ~np.isnan(wide.numpy())
        assert np.array_equal(back.numpy().view(np.uint16)[finite], bits[finite])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_float_is_rounded_to_nearest_even(vendor: Vendor, dtype: str) -> None:
    random = np.random.default_rng(5)
    pattern = random.integers(0, 1 << 32, 200_000, dtype=np.uint64).astype(np.uint32)
    source = pattern.view(np.float32)
    source = source[np.isfinite(source)]
    with np.errstate(over="ignore"):
        want = stored(source, dtype)
    out = out_like(vendor, source.shape, dtype)
    vendor.op.CastDtype(out, vendor.tensor(source))
    assert np.array_equal(out.numpy().view(np.uint16), want.view(np.uint16))


def test_integers_have_no_exponential(vendor: Vendor) -> None:
    x = place(vendor, [1, 2], "int32")[0]
    with pytest.raises((NotSupportedError, OperatorError)):
        vendor.op.Exp(out_like(vendor, (2,), "int32"), x)


@pytest.mark.parametrize("dtype", INTS)
def test_abs_of_the_smallest_integer_wraps(vendor: Vendor, dtype: str) -> None:
    low = np.iinfo(dtype).min
    x = vendor.tensor(np.array([low], dtype))
    vendor.op.AbsInp(x)
    with np.errstate(over="ignore"):
        assert x.numpy()[0] == np.abs(np.array([low], dtype))[0]


def test_transposed_matrix_in_tiles(vendor: Vendor) -> None:
    source = numbers((130, 97), "float32", 6).astype(np.float32)
    out = out_like(vendor, (130, 97), "float32")
    vendor.op.Neg(out, vendor.tensor(laid_out(source, "transposed")))
    assert np.array_equal(out.numpy(), -source)


# name: (reference, range, the largest error in units of the last place, against float64)
WHOLE_RANGE: dict[str, tuple[Function, float, float, float]] = {
    "Exp": (np.exp, -104.0, 89.0, 1.1),
    "Expm1": (np.expm1, -30.0, 89.0, 1.7),
    "Log": (np.log, 0.0, np.inf, 1.0),
    "Log2": (np.log2, 0.0, np.inf, 1.1),
    "Log10": (np.log10, 0.0, np.inf, 1.1),
    "Log1p": (np.log1p, -1.0, np.inf, 1.6),
    "Tan": (np.tan, -4e6, 4e6, 0.6),
    "Atan": (np.arctan, -np.inf, np.inf, 1.4),
    "Asin": (np.arcsin, -1.0, 1.0, 2.4),
    "Acos": (np.arccos, -1.0, 1.0, 1.2),
    "Sinh": (np.sinh, -89.0, 89.0, 2.4),
    "Cosh": (np.cosh, -89.0, 89.0, 1.6),
    "Asinh": (np.arcsinh, -np.inf, np.inf, 2.2),
    "Acosh": (np.arccosh, 1.0, np.inf, 2.4),
    "Atanh": (np.arctanh, -1.0, 1.0, 2.6),
}
# Where the processor has no fused multiply-add, products are rounded before they are added to.
WITHOUT_FMA = {"Log2": 1.7, "Log10": 1.6}


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_error_over_the_whole_range(vendor: Vendor, name: str) -> None:
    reference, low, high, bound = WHOLE_RANGE[name]
    if vendor.host_accessible and vendor.properties(0).architecture == "x86-64-v2":
        bound = WITHOUT_FMA.get(name, bound)
    # Bit patterns spread evenly: every exponent is there, subnormal numbers are too.
    x = np.arange(0, 1 << 32, 2027, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (x >= low) & (x <= high)]
    out = out_like(vendor, x.shape, "float32")
    vendor.op[f"diopi{name}"](out, vendor.tensor(x))
    with np.errstate(divide="ignore", over="ignore"):
        want = reference(x.astype(np.float64))
        rounded = want.astype(np.float32)
    got = out.numpy()
    finite = np.isfinite(rounded)
    assert np.array_equal(got[~finite], rounded[~finite])
    unit = units_of_last_place(rounded[finite])
    error = np.abs(got[finite].astype(np.float64) - want[finite]) / unit
    # A GPU computes with its own library's functions; CUDA documents 4 units for the worst of them.
    most = bound if vendor.host_accessible else 4.0
    assert error.max() <= most, f"{error.max()} at {x[finite][error.argmax()]!r}"


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_values_outside_of_the_domain(vendor: Vendor, name: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1.5, -2.0, 0.0], np.float32)
    out = out_like(vendor, x.shape, "float32")
    vendor.op[f"diopi{name}"](out, vendor.tensor(x))
    with np.errstate(all="ignore"):
        want = WHOLE_RANGE[name][0](x.astype(np.float64)).astype(np.float32)
    assert np.array_equal(np.isnan(out.numpy()), np.isnan(want))
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)
