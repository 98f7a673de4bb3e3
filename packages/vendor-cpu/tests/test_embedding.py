"""Tests of embedding lookup, its gradient, and renormalization."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, REALS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("dtype", REALS)
def test_embedding(vendor: Vendor, dtype: str, kind: str, layout: str) -> None:
    w, weight = place(vendor, numbers((7, 33), dtype, 141), dtype, layout)
    indices = np.random.default_rng(142).integers(0, 7, (4, 5))
    out = out_like(vendor, (4, 5, 33), dtype, layout)
    vendor.op.Embedding(out, w, place(vendor, indices, kind)[0], -1, False, False)
    check(out, weight[indices], OpClass.EXACT, "Embedding")


@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize("padding", [-1, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_embedding_gradient(vendor: Vendor, dtype: str, padding: int, by_frequency: bool) -> None:
    indices = np.random.default_rng(143).integers(0, 7, (20, 5))
    indices[indices == 6] = 5  # row 6 gets no gradient
    g, grad = place(vendor, numbers((20, 5, 70), dtype, 144), dtype, "transposed")
    want, size = np.zeros((7, 70), np.longdouble), np.zeros((7, 70), np.longdouble)
    flat, count = indices.ravel(), np.bincount(indices.ravel(), minlength=7)
    factor = 1 / np.where(by_frequency, np.maximum(count, 1), 1).astype(np.longdouble)
    for i, row in zip(flat, grad.reshape(-1, 70), strict=True):
        if i != padding:
            want[i] += row * factor[i]
            size[i] += np.abs(row) * factor[i]
    out = out_like(vendor, (7, 70), dtype)
    vendor.op.EmbeddingBackward(out, g, vendor.tensor(indices), 7, padding, by_frequency, False)
    check(out, want, OpClass.REDUCTION, "EmbeddingBackward", reduction_length=100, magnitude=size)
    assert not out.float32()[6].any()


@pytest.mark.parametrize("bad", [7, -1])
def test_index_out_of_range_is_named(vendor: Vendor, bad: int) -> None:
    w = out_like(vendor, (7, 2), "float32")
    i = vendor.tensor(np.array([0, bad]))
    message = rf"\[diopiEmbedding\] index {bad} at position 1 is out of range \[0, 7\)"
    with pytest.raises(OperatorError, match=message):
        vendor.op.Embedding(out_like(vendor, (2, 2), "float32"), w, i, -1, False, False)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, float("inf")])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_are_scaled_down_to_a_norm(vendor: Vendor, dtype: str, layout: str, p: float) -> None:
    w, weight = place(vendor, numbers((6, 9), dtype, 327), dtype, layout)
    want = weight.copy()
    for row in (4, 1):
        norm = np.linalg.norm(weight[row], p)
        if norm > 2:
            want[row] *= np.longdouble(2) / (norm + np.longdouble(1e-7))
    vendor.op.EmbeddingRenorm_(w, vendor.tensor(np.array([4, 1, 4])), 2.0, p)
    check(w, want, OpClass.ELEMENTARY, "EmbeddingRenorm_")
