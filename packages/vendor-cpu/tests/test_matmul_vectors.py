"""Products of a matrix and a vector, whose kernels choose among loops by the length of a row."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import check, exact, numbers, out_like, stored


@pytest.mark.parametrize("k", [1, 7, 8, 9, 15, 16, 17, 25, 31, 32, 63, 64, 65, 300, 4096, 4097])
@pytest.mark.parametrize("rows", [1, 7, 8, 15, 16, 17, 33, 70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_vector_products(vendor: Vendor, dtype: str, rows: int, k: int) -> None:
    wide = stored(numbers((rows, k + 3), dtype, 1), dtype)[:, 1 : k + 1]
    values = exact(wide, dtype)
    matrix, turned = vendor.tensor(wide, dtype=dtype), vendor.tensor(wide.T, dtype=dtype)
    bits = stored(numbers((k, 1), dtype, 2), dtype)
    factors = exact(bits, dtype)
    size = np.abs(values) @ np.abs(factors)
    for transposed in (False, True):
        out = out_like(vendor, (1, rows) if transposed else (rows, 1), dtype)
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


@pytest.mark.parametrize("at", [0, 8, 9, 15, 16, 24])
def test_infinities_of_a_row_are_counted_once(vendor: Vendor, at: int) -> None:
    matrix = np.ones((40, 25), np.float32)
    matrix[::2, at] = np.inf
    out = out_like(vendor, (40, 1), "float32")
    vendor.op.Mm(out, vendor.tensor(matrix), vendor.tensor(np.ones((25, 1), np.float32)))
    assert out.numpy()[:, 0].tolist() == [np.inf, 25.0] * 20


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 2, 100_003), (2, 2, 100_003), (3, 5, 100_003), (2, 1, 100_003), (1, 700, 10_007)],
)
def test_long_sums_of_few_columns(portable_vendor: Vendor, m: int, n: int, k: int) -> None:
    """Whose error does not grow with their length as that of one running float does."""
    random = np.random.default_rng(4)
    x, y = (random.random(shape, np.float32) for shape in ((m, k), (k, n)))
    out = out_like(portable_vendor, (m, n), "float32")
    portable_vendor.op.Mm(out, portable_vendor.tensor(x), portable_vendor.tensor(y))
    want = x.astype(np.float64) @ y.astype(np.float64)
    # A GPU adds up each element in one register.
    bound = 1e-6 if portable_vendor.host_accessible else 1e-4
    assert (np.abs(out.numpy() - want) / want).max() < bound
