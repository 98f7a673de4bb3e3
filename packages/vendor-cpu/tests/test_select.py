"""Clamping, choosing, copying and blending."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.host import Scalar
from diopi_proto.tolerance import OpClass
from support import (
    FLOATS,
    INTS,
    LAYOUTS,
    NUMBERS,
    REALS,
    check,
    exact,
    laid_out,
    numbers,
    out_like,
    place,
    stored,
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_clamp_with_scalars(vendor: Vendor, dtype: str, layout: str) -> None:
    source = numbers((4, 21), dtype, 31, -9, 9)
    a, x = place(vendor, source, dtype, layout)
    out = out_like(vendor, (4, 21), dtype, layout)
    cases: list[tuple[str, tuple[Any, ...], Any]] = [
        ("ClampScalar", (2, 5), np.clip(x, 2, 5)),
        ("ClampScalar", (None, 5), np.minimum(x, 5)),
        ("ClampScalar", (5, 2), np.full_like(x, 2)),
        ("ClampMinScalar", (2,), np.maximum(x, 2)),
        ("ClampMaxScalar", (2,), np.minimum(x, 2)),
    ]
    for name, bounds, want in cases:
        vendor.op[f"diopi{name}"](out, a, *bounds)
        check(out, want, OpClass.EXACT, name)
        b = place(vendor, source, dtype, layout)[0]
        vendor.op[f"diopi{name.replace('Scalar', 'InpScalar')}"](b, *bounds)
        assert np.array_equal(b.numpy(), out.numpy())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_clamp_with_tensors(vendor: Vendor, dtype: str) -> None:
    source = numbers((4, 21), dtype, 32, -9, 9)
    a, x = place(vendor, source, dtype)
    low, lows = place(vendor, numbers((21,), dtype, 33, -5, 1), dtype)
    high, highs = place(vendor, numbers((4, 1), dtype, 34, 1, 6), dtype)
    out = out_like(vendor, (4, 21), dtype)
    cases: list[tuple[str, tuple[Any, ...], Any]] = [
        ("Clamp", (low, high), np.minimum(np.maximum(x, lows), highs)),
        ("Clamp", (None, high), np.minimum(x, highs)),
        ("ClampMin", (low,), np.maximum(x, lows)),
        ("ClampMax", (high,), np.minimum(x, highs)),
    ]
    for name, bounds, want in cases:
        vendor.op[f"diopi{name}"](out, a, *bounds)
        check(out, want, OpClass.EXACT, name)
        b = place(vendor, source, dtype)[0]
        vendor.op[f"diopi{name}Inp"](b, *bounds)
        assert np.array_equal(b.numpy(), out.numpy())


def test_clamp_keeps_nan(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([np.nan, -9.0, 9.0], np.float32))
    out = out_like(vendor, (3,), "float32")
    vendor.op.ClampScalar(out, a, -1, 1)
    assert np.isnan(out.numpy()[0])
    assert out.numpy()[1:].tolist() == [-1.0, 1.0]


def test_clamp_needs_a_bound(vendor: Vendor) -> None:
    a = out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match="neither min nor max"):
        vendor.op.ClampScalar(a, a, None, None)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_where_broadcasts(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((5, 9), dtype, 35), dtype, layout)
    b, y = place(vendor, numbers((9,), dtype, 36), dtype)
    flags = numbers((5, 1), "bool", 37)
    out = out_like(vendor, (5, 9), dtype, layout)
    vendor.op.Where(out, vendor.tensor(flags), a, b)
    check(out, np.where(flags, x, y), OpClass.EXACT, "Where")


def test_where_moves_complex_numbers(vendor: Vendor) -> None:
    x = np.array([1 + 2j, 3 + 4j])
    out = vendor.tensor(np.zeros(2, np.complex128))
    vendor.op.Where(
        out, vendor.tensor(np.array([True, False])), vendor.tensor(x), vendor.tensor(-x)
    )
    assert out.numpy().tolist() == [1 + 2j, -3 - 4j]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_masked_fill(vendor: Vendor, dtype: str, layout: str) -> None:
    source = numbers((5, 9), dtype, 38)
    mask = numbers((9,), "bool", 39)
    m = vendor.tensor(mask)
    a, x = place(vendor, source, dtype, layout)
    want = np.where(mask, exact(stored(1, dtype), dtype), x)
    out = out_like(vendor, (5, 9), dtype, layout)
    vendor.op.MaskedFillScalar(out, a, m, 1)
    check(out, want, OpClass.EXACT, "MaskedFillScalar")
    vendor.op.ZeroInp(out)
    vendor.op.MaskedFill(out, a, m, vendor.tensor(np.array(1, np.int64)))
    check(out, want, OpClass.EXACT, "MaskedFill")
    vendor.op.MaskedFillInpScalar(a, m, 1)
    check(a, want, OpClass.EXACT, "MaskedFillInpScalar")
    b = place(vendor, source, dtype, layout)[0]
    vendor.op.MaskedFillInp(b, m, place(vendor, 1, dtype)[0])
    check(b, want, OpClass.EXACT, "MaskedFillInp")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", REALS)
@pytest.mark.parametrize("source", REALS)
def test_copy_converts(vendor: Vendor, source: str, target: str, layout: str) -> None:
    low = 0 if target == "uint8" else -9
    a, x = place(vendor, numbers((6, 19), source, 40, low, 9), source, layout)
    want = (
        x.astype(bool)
        if target == "bool"
        else np.trunc(x.astype(np.longdouble))
        if target in INTS
        else x
    )
    want = want.astype(np.longdouble) if target in FLOATS else want.astype(target)
    for name in ("CopyInp", "CastDtype"):
        out = out_like(vendor, (6, 19), target)
        vendor.op[f"diopi{name}"](*((a, out) if name == "CopyInp" else (out, a)))
        check(out, want, OpClass.EXACT, name)


def test_copy_of_large_transposed_matrix(vendor: Vendor) -> None:
    source = np.arange(210 * 190, dtype=np.int64).reshape(210, 190)
    out = vendor.tensor(np.zeros((210, 190), np.int64))
    vendor.op.CopyInp(vendor.tensor(laid_out(source, "transposed")), out)
    assert np.array_equal(out.numpy(), source)


def test_copy_between_permuted_layouts(vendor: Vendor) -> None:
    source = np.arange(2 * 3 * 40 * 50, dtype=np.float32).reshape(2, 3, 40, 50)
    last = np.ascontiguousarray(source.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    a = vendor.tensor(last)
    assert a.strides == (6000, 1, 150, 3)
    out = vendor.tensor(np.zeros_like(source))
    vendor.op.CopyInp(a, out)
    assert np.array_equal(out.numpy(), source)
    back = vendor.tensor(np.zeros_like(last))
    vendor.op.CopyInp(out, back)
    assert np.array_equal(back.numpy(), source)


def test_copy_between_complex_and_real(vendor: Vendor) -> None:
    out = vendor.tensor(np.zeros(3, np.complex64))
    vendor.op.CopyInp(vendor.tensor(np.array([1, 2, 3], np.int32)), out)
    assert out.numpy().tolist() == [1, 2, 3]
    real = vendor.tensor(np.zeros(3, np.float64))
    vendor.op.CopyInp(vendor.tensor(np.array([1 + 5j, 2j, 3])), real)
    assert real.numpy().tolist() == [1, 0, 3]


def test_expand_repeats(vendor: Vendor) -> None:
    out = out_like(vendor, (3, 4), "float32")
    vendor.op.Expand(out, vendor.tensor(np.arange(4, dtype=np.float32)))
    assert np.array_equal(out.numpy(), np.tile(np.arange(4), (3, 1)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_fill_zeros_and_ones(vendor: Vendor, dtype: str, layout: str) -> None:
    for name, arguments, value in (
        ("Fill", (1,), 1),
        ("ZeroInp", (), 0),
        ("Ones", ((4, 9),), 1),
        ("Zeros", ((4, 9),), 0),
    ):
        out = out_like(vendor, (4, 9), dtype, layout)
        vendor.op[f"diopi{name}"](out, *arguments)
        check(out, np.full((4, 9), value), OpClass.EXACT, name)


def test_strided_output_leaves_the_gaps_alone(vendor: Vendor) -> None:
    wide = vendor.tensor(np.full((4, 6), 5, np.float32))
    vendor.op.Fill(wide.as_strided((4, 3), (6, 2)), 1)
    assert np.array_equal(wide.numpy(), np.tile([1, 5], (4, 3)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_addcmul_addcdiv_and_lerp(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((4, 13), dtype, 41), dtype, layout)
    b, y = place(vendor, numbers((13,), dtype, 42, 1, 3), dtype)
    c, z = place(vendor, numbers((4, 1), dtype, 43, 1, 3), dtype)
    out = out_like(vendor, (4, 13), dtype, layout)
    scale = np.abs(x) + 9 + 2 * np.abs(y * z)
    for name, reference in (("Addcmul", x + 2 * y * z), ("Addcdiv", x + 2 * y / z)):
        vendor.op[f"diopi{name}"](out, a, b, c, 2)
        check(out, reference, OpClass.REDUCTION, name, reduction_length=2, magnitude=scale)
        d = place(vendor, x.astype(np.float64), dtype, layout)[0]
        vendor.op[f"diopi{name}Inp"](d, b, c, 2)
        assert np.array_equal(d.numpy(), out.numpy())
    weight, w = place(vendor, numbers((4, 1), dtype, 44, 0, 1), dtype)
    vendor.op.LerpTensor(out, a, b, weight)
    check(
        out, x + w * (y - x), OpClass.REDUCTION, "LerpTensor", reduction_length=2, magnitude=scale
    )
    vendor.op.LerpScalar(out, a, b, 0.25)
    check(
        out, x + (y - x) / 4, OpClass.REDUCTION, "LerpScalar", reduction_length=2, magnitude=scale
    )


def test_lerp_is_exact_at_both_ends(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([0.1, 1e8], np.float32))
    b = vendor.tensor(np.array([0.7, 1.0], np.float32))
    out = out_like(vendor, (2,), "float32")
    vendor.op.LerpScalar(out, a, b, 1)
    assert np.array_equal(out.numpy(), b.numpy())
    vendor.op.LerpScalar(out, a, b, 0)
    assert np.array_equal(out.numpy(), a.numpy())


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_along_any_dim(vendor: Vendor, dtype: str, dim: int) -> None:
    sizes = [(2, 5), (2, 5), (2, 5)]
    placed = [
        place(vendor, numbers(s, dtype, 45 + i), dtype, LAYOUTS[i]) for i, s in enumerate(sizes)
    ]
    want = np.concatenate([x for _, x in placed], axis=dim)
    out = out_like(vendor, want.shape, dtype)
    vendor.op.Cat(out, [t for t, _ in placed], dim)
    check(out, want, OpClass.EXACT, "Cat")


def test_cat_skips_empty_vectors_and_converts(vendor: Vendor) -> None:
    out = out_like(vendor, (2, 3), "float32")
    parts = [
        vendor.tensor(np.zeros((0,), np.float32)),
        vendor.tensor(np.array([[1], [2]], np.int64)),
        vendor.tensor(np.array([[3, 4], [5, 6]], np.float32)),
    ]
    vendor.op.Cat(out, parts, 1)
    assert out.numpy().tolist() == [[1, 3, 4], [2, 5, 6]]
    with pytest.raises(OperatorError, match=r"\[diopiCat\]"):
        vendor.op.Cat(out, parts[1:2], 1)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_stack(vendor: Vendor, dim: int) -> None:
    arrays = [numbers((3, 4), "int32", 50 + i) for i in range(2)]
    want = np.stack(arrays, axis=dim)
    out = out_like(vendor, want.shape, "int32")
    vendor.op.Stack(out, [place(vendor, a, "int32")[0] for a in arrays], dim)
    assert np.array_equal(out.numpy(), want)


def test_mixed_dtypes_are_left_to_the_host(vendor: Vendor) -> None:
    a, b = out_like(vendor, (2,), "float32"), out_like(vendor, (2,), "float64")
    with pytest.raises((NotSupportedError, OperatorError)):
        vendor.op.Where(a, vendor.tensor(np.array([True, False])), a, b)


@pytest.mark.parametrize("dtype", ["uint64", "int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("number", [0, 7, 2**63, 2**64 - 1])
def test_fill_takes_unsigned_numbers_of_64_bits(vendor: Vendor, dtype: str, number: int) -> None:
    out = vendor.empty((3,), dtype)
    vendor.op.Fill(out, Scalar(number, "uint64"))
    assert (out.numpy() == np.array(number, np.uint64).astype(dtype)).all()
