"""Tests of sums, differences, products and extrema of two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from broadcasting import SHAPES, both
from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, INTS, LAYOUTS, NUMBERS, check, numbers, out_like, place

Function = Callable[[Any, Any], Any]
ARITHMETIC: dict[str, tuple[Function, tuple[str, ...]]] = {
    "Mul": (np.multiply, NUMBERS),
    "Maximum": (np.maximum, NUMBERS),
    "Minimum": (np.minimum, NUMBERS),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_add_and_sub_scale_the_second_operand(
    vendor: Vendor, dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    left, right = both(dtype, *shapes)
    a, x = place(vendor, left, dtype, layout)
    b, y = place(vendor, right, dtype, layout)
    shape = np.broadcast_shapes(*shapes)
    for name, sign in (("Add", 1), ("Sub", -1)):
        out = out_like(vendor, shape, dtype, layout)
        vendor.op[f"diopi{name}"](out, a, b, 2)
        if dtype in FLOATS:
            check(out, x + sign * 2 * y, OpClass.ROUNDING, name)  # doubling is exact
        else:
            want = x.astype(np.int64) + sign * 2 * y.astype(np.int64)
            check(out, want.astype(dtype), OpClass.EXACT, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, c in ARITHMETIC.items() for d in c[1]])
def test_arithmetic_broadcasts(
    vendor: Vendor,
    name: str,
    dtype: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    layout: str,
) -> None:
    left, right = both(dtype, *shapes)
    a, x = place(vendor, left, dtype, layout)
    b, y = place(vendor, right, dtype, layout)
    out = out_like(vendor, np.broadcast_shapes(*shapes), dtype, layout)
    vendor.op[f"diopi{name}"](out, a, b)
    with np.errstate(over="ignore"):
        check(out, ARITHMETIC[name][0](x, y), OpClass.ROUNDING, name)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_scalar_forms_of_arithmetic(vendor: Vendor, dtype: str) -> None:
    source = numbers((3, 11), dtype, 14, -4, 4)
    scalar = 0.3 if dtype in FLOATS else 3
    # The scalar is rounded to the compute type, which is float for half precision.
    factor: Any = np.longdouble(0.3 if dtype == "float64" else np.float32(0.3))
    cases: dict[str, Function] = {
        "AddScalar": lambda x, s: x + 2 * s,
        "SubScalar": lambda x, s: x - 2 * s,
        "MulScalar": lambda x, s: x * s,
    }
    for name, reference in cases.items():
        a, x = place(vendor, source, dtype)
        more = () if name == "MulScalar" else (2,)
        out = out_like(vendor, (3, 11), dtype)
        vendor.op[f"diopi{name}"](out, a, scalar, *more)
        if dtype in FLOATS:
            check(out, reference(x, factor), OpClass.ROUNDING, name)
        else:
            check(out, reference(x.astype(np.int64), 3).astype(dtype), OpClass.EXACT, name)
        vendor.op[f"diopi{name.replace('Scalar', 'InpScalar')}"](a, scalar, *more)
        assert np.array_equal(a.numpy(), out.numpy())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_in_place_forms_of_arithmetic(vendor: Vendor, dtype: str) -> None:
    source, other = both(dtype, (3, 11), (11,))
    b = place(vendor, other, dtype)[0]
    for name, more in (("Add", (1,)), ("Sub", (1,)), ("Mul", ())):
        a = place(vendor, source, dtype)[0]
        out = out_like(vendor, (3, 11), dtype)
        vendor.op[f"diopi{name}"](out, a, b, *more)
        vendor.op[f"diopi{name}Inp"](a, b, *more)
        assert np.array_equal(a.numpy(), out.numpy()), name


@pytest.mark.parametrize("dtype", INTS)
def test_integer_arithmetic_wraps(vendor: Vendor, dtype: str) -> None:
    high = np.array([np.iinfo(dtype).max], dtype)
    a = vendor.tensor(high)
    out = out_like(vendor, (1,), dtype)
    vendor.op.Add(out, a, a, 1)
    assert out.numpy()[0] == np.array(-2).astype(dtype)
    vendor.op.Mul(out, a, a)
    assert (int(out.numpy()[0]) - int(high[0]) ** 2) % 2 ** (8 * high.itemsize) == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_extrema_keep_nan(vendor: Vendor, dtype: str) -> None:
    a = place(vendor, [np.nan, 1.0, np.nan, 2.0], dtype)[0]
    b = place(vendor, [1.0, np.nan, np.nan, 3.0], dtype)[0]
    out = out_like(vendor, (4,), dtype)
    for name, last in (("Maximum", 3.0), ("Minimum", 2.0)):
        vendor.op[f"diopi{name}"](out, a, b)
        assert np.isnan(out.float32()[:3]).all()
        assert out.float32()[3] == last


def test_bools_add_and_multiply_as_logic(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([False, False, True, True]))
    b = vendor.tensor(np.array([False, True, False, True]))
    out = out_like(vendor, (4,), "bool")
    vendor.op.Add(out, a, b, True)
    assert out.numpy().tolist() == [False, True, True, True]
    vendor.op.Mul(out, a, b)
    assert out.numpy().tolist() == [False, False, False, True]
    with pytest.raises((NotSupportedError, OperatorError)):
        vendor.op.Sub(out, a, b, True)


def test_operand_repeated_by_stride_zero(vendor: Vendor) -> None:
    row = np.arange(6, dtype=np.float32)
    repeated = vendor.tensor(np.broadcast_to(row, (40, 6)))
    assert repeated.strides[0] == 0
    out = out_like(vendor, (40, 6), "float32")
    vendor.op.Add(out, repeated, repeated, 1)
    assert np.array_equal(out.numpy(), np.broadcast_to(2 * row, (40, 6)))


def test_large_operands_are_shared_out(vendor: Vendor) -> None:
    left, right = numbers((300, 501), "float32", 24), numbers((300, 1), "float32", 25)
    a, x = place(vendor, left, "float32")
    b, y = place(vendor, right, "float32")
    out = out_like(vendor, (300, 501), "float32")
    vendor.op.Mul(out, a, b)
    check(out, x * y, OpClass.ROUNDING, "Mul")


def test_shapes_that_do_not_fit_are_refused(vendor: Vendor) -> None:
    a, b = out_like(vendor, (3,), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiMul\].*cannot be broadcast"):
        vendor.op.Mul(out_like(vendor, (4,), "float32"), a, b)


def test_alpha_must_fit_integers(vendor: Vendor) -> None:
    a = place(vendor, [1, 2], "int32")[0]
    with pytest.raises(OperatorError, match="alpha"):
        vendor.op.Add(a, a, a, 0.5)
