"""Tests of matrix-vector products, whose kernels choose among loops by the length of a row."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import check, exact, numbers, out_like, place, stored


def check_products(vendor: Vendor, dtype: str, rows: int, k: int, count: int) -> None:
    """Check a matrix of dense rows times `count` vectors, and the same product transposed."""
    wide = stored(numbers((rows, k + 3), dtype, 1), dtype)[:, 1 : k + 1]
    values = exact(wide, dtype)
    matrix, turned = vendor.tensor(wide, dtype=dtype), vendor.tensor(wide.T, dtype=dtype)
    bits = stored(numbers((k, count), dtype, 2), dtype)
    factors = exact(bits, dtype)
    size = np.abs(values) @ np.abs(factors)
    for transposed in (False, True):
        out = out_like(vendor, (count, rows) if transposed else (rows, count), dtype)
        if transposed:
            vendor.op.Mm(out, vendor.tensor(bits.T, dtype=dtype), turned)
        else:
            vendor.op.Mm(out, matrix, vendor.tensor(bits, dtype=dtype))
        want = values @ factors
        magnitude = size + np.abs(want)
        check(
            out,
            want.T if transposed else want,
            OpClass.MATMUL,
            "Mm",
            reduction_length=k,
            magnitude=magnitude.T if transposed else magnitude,
        )


@pytest.mark.parametrize("k", [1, 7, 8, 9, 15, 16, 17, 25, 31, 32, 63, 64, 65, 300, 4096, 4097])
@pytest.mark.parametrize("rows", [1, 7, 8, 15, 16, 17, 33, 70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_vector_products(vendor: Vendor, dtype: str, rows: int, k: int) -> None:
    check_products(vendor, dtype, rows, k, 1)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 8, 11, 16, 17, 31])
@pytest.mark.parametrize("k", [16, 25, 64, 777, 4097])
@pytest.mark.parametrize("rows", [16, 19, 600])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_products_with_a_few_vectors(
    vendor: Vendor, dtype: str, rows: int, k: int, count: int
) -> None:
    check_products(vendor, dtype, rows, k, count)


@pytest.mark.parametrize("count", [2, 5, 11])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_few_vectors_are_added_to_what_is_there_once(
    portable_vendor: Vendor, dtype: str, count: int
) -> None:
    """Groups of rows and of vectors overlap if the numbers are not multiples of a group."""
    a, b, c = (
        place(portable_vendor, np.ones(shape), dtype, layout)[0]
        for shape, layout in (
            ((count, 24), "dense"),
            ((24, 35), "transposed"),
            ((count, 35), "dense"),
        )
    )
    out = out_like(portable_vendor, (count, 35), dtype)
    portable_vendor.op.Addmm(out, c, a, b, 1.0, 1.0)
    assert (exact(out.numpy(), dtype) == 25).all()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("at", [0, 8, 9, 15, 16, 24])
def test_infinities_of_a_row_are_counted_once(vendor: Vendor, at: int, count: int) -> None:
    matrix = np.ones((40, 25), np.float32)
    matrix[::2, at] = np.inf
    out = out_like(vendor, (40, count), "float32")
    vendor.op.Mm(out, vendor.tensor(matrix), vendor.tensor(np.ones((25, count), np.float32)))
    assert out.numpy().tolist() == [[np.inf] * count, [25.0] * count] * 20


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (1, 2, 100_003),
        (2, 2, 100_003),
        (3, 5, 100_003),
        (2, 1, 100_003),
        (1, 700, 10_007),
        (9, 40, 10_007),
    ],
)
def test_long_sums_of_few_columns(portable_vendor: Vendor, m: int, n: int, k: int) -> None:
    """The error does not grow with the length, as it would for a single float accumulator."""
    random = np.random.default_rng(4)
    x, y = (random.random(shape, np.float32) for shape in ((m, k), (k, n)))
    out = out_like(portable_vendor, (m, n), "float32")
    portable_vendor.op.Mm(out, portable_vendor.tensor(x), portable_vendor.tensor(y))
    want = x.astype(np.float64) @ y.astype(np.float64)
    # A GPU accumulates each element in one register.
    bound = 1e-6 if portable_vendor.host_accessible else 1e-4
    assert (np.abs(out.numpy() - want) / want).max() < bound
