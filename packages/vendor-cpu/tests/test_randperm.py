"""Tests of permutations: their use of the random stream, and their possible results."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Vendor
from philox import below
from support import FLOATS, NUMBERS, out_like


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("layout", ["dense", "sliced"])
def test_permutations_exchange_elements(vendor: Vendor, dtype: str, layout: str) -> None:
    n, seed, offset = 101, (3 << 32) + 1, 5
    generator = Generator(seed=seed, offset=offset)
    out = out_like(vendor, (n,), dtype, layout)
    vendor.op.Randperm(out, n, generator)
    want = list(range(n))
    for i in range(n):
        other = i + below(seed, offset, i, n - i, long=True)
        want[i], want[other] = want[other], want[i]
    got = out.float32() if dtype in FLOATS else out.numpy()
    assert got.astype(np.int64).tolist() == want
    assert generator.offset == offset + (n + 1) // 2


@pytest.mark.parametrize("n", [1, 2, 3000])
def test_permutations_of_other_sizes(vendor: Vendor, n: int) -> None:
    out = out_like(vendor, (n,), "int64")
    vendor.op.Randperm(out, n, Generator(seed=77, offset=1))
    want = list(range(n))
    for i in range(n):
        other = i + below(77, 1, i, n - i, long=True)
        want[i], want[other] = want[other], want[i]
    assert out.numpy().tolist() == want


def test_permutation_of_nothing_and_of_the_wrong_size(vendor: Vendor) -> None:
    generator = Generator(seed=1)
    vendor.op.Randperm(out_like(vendor, (0,), "int64"), 0, generator)
    assert generator.offset == 0
    with pytest.raises(OperatorError, match="3 elements for n = 4"):
        vendor.op.Randperm(out_like(vendor, (3,), "int64"), 4, generator)
