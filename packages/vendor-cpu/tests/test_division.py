"""Tests of quotients and remainders."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import (
    FLOATS,
    INTS,
    LAYOUTS,
    NUMBERS,
    Array,
    check,
    exact,
    numbers,
    out_like,
    place,
    stored,
)


def floored(x: Array, y: Array, dtype: str) -> Array:
    """Return the floored quotient by the steps of the schema, each rounded to the dtype."""
    rest = np.fmod(x, y)
    quotient = exact(stored(exact(stored(x - rest, dtype), dtype) / y, dtype), dtype)
    off = (rest != 0) & ((rest < 0) != (y < 0))
    return np.ceil(np.where(off, exact(stored(quotient - 1, dtype), dtype), quotient) - 0.5)


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_modes_of_floats(vendor: Vendor, dtype: str) -> None:
    left = numbers((4, 25), dtype, 15, -9, 9)
    right = np.where(np.abs(numbers((4, 25), dtype, 16)) < 0.3, 0.7, numbers((4, 25), dtype, 16))
    a, x = place(vendor, left, dtype)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (4, 25), dtype)
    vendor.op.Div(out, a, b, "none")
    check(out, x / y, OpClass.ROUNDING, "Div")
    vendor.op.Div(out, a, b, "floor")
    check(out, floored(x, y, dtype), OpClass.EXACT, "Div floor")
    vendor.op.Div(out, a, b, "trunc")
    check(out, np.trunc(exact(stored(x / y, dtype), dtype)), OpClass.EXACT, "Div trunc")
    vendor.op.DivScalar(out, a, 2, "floor")
    check(out, np.floor(x / 2), OpClass.EXACT, "DivScalar")
    vendor.op.DivInpScalar(a, 2, "floor")
    assert np.array_equal(a.numpy(), out.numpy())
    vendor.op.DivInp(b, b, "none")
    assert np.array_equal(b.float32(), np.ones((4, 25)))


def test_quotients_of_halves_are_rounded_before_they_are_whole(vendor: Vendor) -> None:
    """47 / 7.84375 is 5.992, and 6 in bfloat16; with a scalar divisor it is not rounded."""
    a, b = place(vendor, [47.0, 47.0], "bfloat16")[0], place(vendor, [7.84375, 8.0], "bfloat16")[0]
    out = out_like(vendor, (2,), "bfloat16")
    vendor.op.Div(out, a, b, "trunc")
    assert out.float32().tolist() == [6, 5]
    vendor.op.DivScalar(out, a, 7.84375, "trunc")
    assert out.float32().tolist() == [5, 5]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_floored_quotients_of_halves_of_any_size(vendor: Vendor, dtype: str) -> None:
    """Quotients that half precision represents exactly, and larger ones."""
    for size in (9, 300, 60000):
        left, right = numbers((4000,), dtype, 5, -size, size), numbers((4000,), dtype, 6, -3, 3)
        a, x = place(vendor, left, dtype)
        b, y = place(vendor, np.where(np.abs(right) < 1e-3, 2, right), dtype)
        out = out_like(vendor, (4000,), dtype)
        vendor.op.Div(out, a, b, "floor")
        with np.errstate(over="ignore"):
            check(out, floored(x, y, dtype), OpClass.EXACT, "Div floor")


def test_float_division_by_zero_follows_ieee(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([1.0, -1.0, 0.0], np.float32))
    zero = vendor.tensor(np.zeros(3, np.float32))
    out = out_like(vendor, (3,), "float32")
    for mode in ("none", "floor", "trunc"):
        vendor.op.Div(out, a, zero, mode)
        assert out.numpy()[:2].tolist() == [np.inf, -np.inf]
        assert np.isnan(out.numpy()[2])


@pytest.mark.parametrize("dtype", INTS)
def test_division_modes_of_integers(vendor: Vendor, dtype: str) -> None:
    left = numbers((60,), dtype, 17, -9, 9)
    right = numbers((60,), dtype, 18, -4, 4)
    right[right == 0] = 3
    a, x = place(vendor, left, dtype)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (60,), dtype)
    vendor.op.Div(out, a, b, "floor")
    assert np.array_equal(out.numpy(), x // y)
    vendor.op.Div(out, a, b, "trunc")
    assert np.array_equal(out.numpy(), np.trunc(x / y).astype(dtype))


@pytest.mark.parametrize("dtype", INTS)
def test_nothing_divided_by_zero_is_no_error(vendor: Vendor, dtype: str) -> None:
    nothing = out_like(vendor, (0, 2), dtype)
    zeros = place(vendor, [0, 0], dtype)[0]
    out = out_like(vendor, (0, 2), dtype)
    vendor.op.Div(out, nothing, zeros, "floor")
    vendor.op.DivInp(nothing, zeros, "trunc")
    vendor.op.DivScalar(out, nothing, 0, "floor")
    vendor.op.DivInpScalar(nothing, 0, "trunc")
    vendor.op.RemainderTensor(out, nothing, zeros)
    vendor.op.RemainderScalar(out, nothing, 0)


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_by_zero_is_an_error(vendor: Vendor, dtype: str) -> None:
    a = place(vendor, [1, 2], dtype)[0]
    zero = place(vendor, [1, 0], dtype)[0]
    with pytest.raises(OperatorError, match=r"\[diopiDiv\] integer division by zero"):
        vendor.op.Div(out_like(vendor, (2,), dtype), a, zero, "floor")


@pytest.mark.parametrize(("dtype", "number"), [("int8", 256), ("uint8", 65536), ("int32", 2**32)])
def test_number_that_is_zero_in_the_dtype_is_refused(
    vendor: Vendor, dtype: str, number: int
) -> None:
    a, out = place(vendor, [1, 2], dtype)[0], out_like(vendor, (2,), dtype)
    for run in (
        lambda: vendor.op.DivScalar(out, a, number, "floor"),
        lambda: vendor.op.DivInpScalar(a, number, "trunc"),
        lambda: vendor.op.RemainderScalar(out, a, number),
    ):
        with pytest.raises(OperatorError, match="integer division by zero"):
            run()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_smallest_integer_divided_by_minus_one_wraps(vendor: Vendor, dtype: str) -> None:
    low = np.iinfo(dtype).min
    out = out_like(vendor, (1,), dtype)
    vendor.op.Div(
        out, vendor.tensor(np.array([low], dtype)), place(vendor, [-1], dtype)[0], "trunc"
    )
    assert out.numpy()[0] == low


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_remainder_has_the_sign_of_the_divisor(vendor: Vendor, dtype: str, layout: str) -> None:
    left, right = numbers((4, 33), dtype, 31, -9, 9), numbers((4, 33), dtype, 32, -4, 4)
    right = np.where(right == 0, 3, right)
    a, x = place(vendor, left, dtype, layout)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (4, 33), dtype, layout)
    vendor.op.RemainderTensor(out, a, b)
    check(out, np.remainder(x, y), OpClass.ROUNDING, "RemainderTensor")
    vendor.op.RemainderScalar(out, a, 4)
    check(out, np.remainder(x, 4), OpClass.ROUNDING, "RemainderScalar")
    vendor.op.Remainder(out, 7, b)
    check(out, np.remainder(7, y).astype(y.dtype), OpClass.ROUNDING, "Remainder")


def test_remainder_by_zero(vendor: Vendor) -> None:
    out = out_like(vendor, (2,), "float32")
    a, zero = place(vendor, [1.0, -2.0], "float32")[0], place(vendor, [0.0, 0.0], "float32")[0]
    vendor.op.RemainderTensor(out, a, zero)
    assert np.isnan(out.numpy()).all()
    whole = place(vendor, [1, 0], "int32")[0]
    with pytest.raises(OperatorError, match=r"\[diopiRemainderTensor\] integer division by zero"):
        vendor.op.RemainderTensor(out_like(vendor, (2,), "int32"), whole, whole)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_remainder_of_the_smallest_integer_by_minus_one(vendor: Vendor, dtype: str) -> None:
    low = vendor.tensor(np.array([np.iinfo(dtype).min], dtype))
    out = out_like(vendor, (1,), dtype)
    vendor.op.RemainderScalar(out, low, -1)
    assert out.numpy()[0] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_whole_and_rest_of_any_floats(vendor: Vendor, dtype: str) -> None:
    """Quotients of all magnitudes, some close to an integer; zeros keep their sign."""
    rng = np.random.default_rng(7)
    near = rng.integers(-9999, 9999, 4000) * (divisors := rng.normal(size=4000).astype(dtype))
    x = np.concatenate([near, *(np.nextafter(near, near.dtype.type(s)) for s in (-9e9, 9e9))])
    x, y = x.astype(dtype), np.tile(divisors, 3)
    # Chunks entirely in the fast range, and mixed ones.
    x[:2000] *= np.exp2(rng.integers(-120, 100, 2000)).astype(dtype)
    y[::401] = [*np.resize([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45], len(y[::401]))]
    a, b, out = vendor.tensor(x), vendor.tensor(y), out_like(vendor, x.shape, dtype)
    with np.errstate(all="ignore"):
        rest = np.fmod(x, y)
        signed = np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
        whole = np.floor_divide(x, y)
    vendor.op.RemainderTensor(out, a, b)
    np.testing.assert_array_equal(out.numpy(), signed)
    some = ~np.isnan(signed)
    np.testing.assert_array_equal(np.signbit(out.numpy())[some], np.signbit(signed)[some])
    vendor.op.Div(out, a, b, "floor")
    np.testing.assert_array_equal(out.numpy(), whole)
    vendor.op.RemainderScalar(out, a, 0.75)
    np.testing.assert_array_equal(out.numpy(), np.remainder(x, x.dtype.type(0.75)))
