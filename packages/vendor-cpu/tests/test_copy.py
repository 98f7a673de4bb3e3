"""Tests of copies between dtypes and layouts."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import (
    EVERY,
    FLOATS,
    INTS,
    LAYOUTS,
    REALS,
    check,
    numbers,
    out_like,
    place,
    stored,
    with_layout,
)


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
    vendor.op.CopyInp(vendor.tensor(with_layout(source, "transposed")), out)
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


FORMATS = {
    "Contiguous": ((2, 3, 4, 5), (60, 20, 5, 1)),
    "ChannelsLast": ((2, 3, 4, 5), (60, 1, 15, 3)),
    "ChannelsLast3d": ((2, 3, 4, 5, 6), (360, 1, 90, 18, 3)),
    "ChannelsLast1d": ((2, 3, 4), (12, 1, 3)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("memory_format", FORMATS)
@pytest.mark.parametrize("dtype", EVERY)
def test_contiguous(vendor: Vendor, dtype: str, memory_format: str, layout: str) -> None:
    shape, strides = FORMATS[memory_format]
    bits = stored(numbers(shape, dtype, 33), dtype)
    out = vendor.op.Contiguous(vendor.tensor(with_layout(bits, layout), dtype=dtype), memory_format)
    assert out.strides == strides
    assert out.numpy().tobytes() == bits.tobytes()


@pytest.mark.parametrize(
    ("layout", "strides"),
    [
        ("dense", (60, 20, 5, 1)),
        ("transposed", (1, 2, 6, 24)),
        ("channels last", (60, 1, 15, 3)),
        ("sliced", (60, 20, 5, 1)),
        ("repeated", (60, 20, 5, 1)),
    ],
)
def test_order_in_memory_is_preserved(
    vendor: Vendor, layout: str, strides: tuple[int, ...]
) -> None:
    x = with_layout(numbers((2, 3, 4, 5), "float32", 34).astype(np.float32), layout)
    out = vendor.op.Contiguous(vendor.tensor(x), "Preserve")
    assert out.strides == strides
    assert np.array_equal(out.numpy(), x)


def test_formats_are_for_their_dimensions(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"\[diopiContiguous\].*for 4 dimensions.*has 2"):
        vendor.op.Contiguous(out_like(vendor, (2, 3), "float32"), "ChannelsLast")
