"""Tests of distinct values and slices."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(7, 90), (1,), (0,), ()], ids=str)
@pytest.mark.parametrize("dtype", REALS)
def test_unique(vendor: Vendor, dtype: str, shape: tuple[int, ...], layout: str) -> None:
    a, x = place(vendor, np.round(numbers(shape, dtype, 95, 0, 20)), dtype, layout)
    inverse = out_like(vendor, shape, "int64")
    values, counts = vendor.op.Unique(a, None, True, True, inverse)
    want, want_inverse, want_counts = np.unique(x, return_inverse=True, return_counts=True)
    check(values, want, OpClass.EXACT, "Unique")
    assert np.array_equal(inverse.numpy(), want_inverse.reshape(shape))
    assert np.array_equal(counts.numpy(), want_counts)


def test_unique_of_many_elements(vendor: Vendor) -> None:
    source = np.random.default_rng(98).integers(-3000, 3000, 9000).astype(np.int32)
    inverse = out_like(vendor, source.shape, "int64")
    values, counts = vendor.op.Unique(vendor.tensor(source), None, True, True, inverse)
    want, want_inverse, want_counts = np.unique(source, return_inverse=True, return_counts=True)
    assert np.array_equal(values.numpy(), want)
    assert np.array_equal(inverse.numpy(), want_inverse)
    assert np.array_equal(counts.numpy(), want_counts)


def test_unique_of_many_slices(vendor: Vendor) -> None:
    source = np.random.default_rng(99).integers(0, 5, (700, 3)).astype(np.float32)
    inverse = out_like(vendor, (700,), "int64")
    values, counts = vendor.op.Unique(vendor.tensor(source), 0, True, True, inverse)
    want, want_inverse, want_counts = np.unique(
        source, return_inverse=True, return_counts=True, axis=0
    )
    assert np.array_equal(values.numpy(), want)
    assert np.array_equal(inverse.numpy(), want_inverse.reshape(-1))
    assert np.array_equal(counts.numpy(), want_counts)


def test_every_nan_is_distinct(vendor: Vendor) -> None:
    source = np.array([np.nan, 1, np.nan, -0.0, 0.0], np.float32)
    values, counts = vendor.op.Unique(vendor.tensor(source), None, True, True, None)
    assert counts.numpy().tolist() == [2, 1, 1, 1]
    assert np.isnan(values.numpy()[2:]).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_unique_slices(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    source = np.round(numbers((6, 5, 4), dtype, 96, 0, 1))
    source = np.concatenate([source, np.flip(source, dim)], dim)
    a, x = place(vendor, source, dtype, layout)
    inverse = out_like(vendor, (x.shape[dim],), "int64")
    values, counts = vendor.op.Unique(a, dim, True, True, inverse)
    slices = np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1).tolist()
    want = sorted({tuple(each) for each in slices})
    got = np.moveaxis(np.take(x, [slices.index(list(each)) for each in want], dim), 0, 0)
    check(values, got, OpClass.EXACT, "Unique")
    assert inverse.numpy().tolist() == [want.index(tuple(each)) for each in slices]
    assert counts.numpy().tolist() == [slices.count(list(each)) for each in want]
