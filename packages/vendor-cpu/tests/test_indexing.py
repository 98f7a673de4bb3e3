"""Lookups by index, triangles, sequences, and outputs whose size the data decides."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, NUMBERS, REALS, check, numbers, out_like, place


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
    message = rf"index {bad} at position 1 is out of range \[0, 7\)"
    with pytest.raises(OperatorError, match=rf"\[diopiEmbedding\] {message}"):
        vendor.op.Embedding(out_like(vendor, (2, 2), "float32"), w, i, -1, False, False)
    with pytest.raises(OperatorError, match=rf"\[diopiIndexSelect\] {message}"):
        vendor.op.IndexSelect(out_like(vendor, (2, 2), "float32"), w, 0, i)
    wide = vendor.tensor(np.array([[0, 0], [bad, 0]]))
    with pytest.raises(OperatorError, match=rf"\[diopiGather\] index {bad} at position 2"):
        vendor.op.Gather(out_like(vendor, (2, 2), "float32"), w, 0, wide)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_index_select(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 145), dtype, layout)
    index = np.array([3, 0, 3, 1])
    want = np.take(x, index, axis=dim)
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.IndexSelect(out, a, dim, vendor.tensor(index))
    check(out, want, OpClass.EXACT, "IndexSelect")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_gather(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 146), dtype, layout)
    index = np.random.default_rng(147).integers(0, 4, (3, 4, 2))
    # The index may be smaller than the input in the other dims.
    part = tuple(slice(None) if d == dim % 3 else slice(n) for d, n in enumerate(index.shape))
    want = np.take_along_axis(x[part], index, axis=dim)
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.Gather(out, a, dim, place(vendor, index, "int64", layout)[0])
    check(out, want, OpClass.EXACT, "Gather")


def test_gather_without_dimensions(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    vendor.op.Gather(out, vendor.tensor(np.array(4, np.float32)), 0, vendor.tensor(np.array(0)))
    assert out.numpy() == 4.0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("diagonal", [-7, -2, 0, 1, 9])
@pytest.mark.parametrize("dtype", REALS)
def test_triangles(vendor: Vendor, dtype: str, diagonal: int, layout: str) -> None:
    a, x = place(vendor, numbers((3, 5, 7), dtype, 148), dtype, layout)
    out = out_like(vendor, (3, 5, 7), dtype, layout)
    vendor.op.Tril(out, a, diagonal)
    check(out, np.tril(x, diagonal), OpClass.EXACT, "Tril")
    vendor.op.Triu(out, a, diagonal)
    check(out, np.triu(x, diagonal), OpClass.EXACT, "Triu")
    vendor.op.TriuInp(a, diagonal)
    check(a, np.triu(x, diagonal), OpClass.EXACT, "TriuInp")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_arange(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (11,), dtype)
    vendor.op.Arange(out, 3, 36, 3)
    check(out, np.arange(3, 36, 3), OpClass.EXACT, "Arange")


@pytest.mark.parametrize("dtype", FLOATS)
def test_arange_of_floats_does_not_drift(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (2000,), dtype)
    vendor.op.Arange(out, 0.5, 600.5, 0.3)
    want = np.longdouble(0.5) + np.arange(2000) * np.longdouble(0.3)
    check(out, want, OpClass.ELEMENTARY, "Arange")


@pytest.mark.parametrize("dtype", FLOATS)
def test_linspace_ends_are_exact(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (7,), dtype)
    vendor.op.Linspace(out, 0.1, 0.7, 7)
    check(
        out, np.linspace(np.longdouble(0.1), np.longdouble(0.7), 7), OpClass.ELEMENTARY, "Linspace"
    )
    one = out_like(vendor, (1,), dtype)
    vendor.op.Linspace(one, 3, 9, 1)
    assert one.float32().tolist() == [3.0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_nonzero_asks_the_host_for_its_output(vendor: Vendor, dtype: str, layout: str) -> None:
    source = (
        np.round(numbers((3, 4, 5), dtype, 149, -1, 1))
        if dtype != "bool"
        else numbers((3, 4, 5), dtype, 149)
    )
    a, x = place(vendor, source, dtype, layout)
    found = vendor.op.Nonzero(a)
    assert found.dtype.name == "int64"
    assert np.array_equal(found.numpy(), np.argwhere(x))


@pytest.mark.parametrize(("shape", "want"), [((), (1, 0)), ((0, 3), (0, 2))], ids=str)
def test_nonzero_of_small_shapes(
    vendor: Vendor, shape: tuple[int, ...], want: tuple[int, int]
) -> None:
    found = vendor.op.Nonzero(vendor.tensor(np.ones(shape, np.float32)))
    assert found.shape == want


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_masked_select_broadcasts(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 5), dtype, 150), dtype, layout)
    mask = numbers((4, 1), "bool", 151)
    found = vendor.op.MaskedSelect(a, vendor.tensor(mask))
    check(found, x[np.broadcast_to(mask, x.shape)], OpClass.EXACT, "MaskedSelect")
    b, y = place(vendor, numbers((4, 1), dtype, 152), dtype)
    wide = numbers((2, 4, 3), "bool", 153)
    found = vendor.op.MaskedSelect(b, vendor.tensor(wide))
    check(found, np.broadcast_to(y, wide.shape)[wide], OpClass.EXACT, "MaskedSelect")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nonzero_and_masked_select_of_many(vendor: Vendor, layout: str) -> None:
    mask = np.random.default_rng(154).random((90, 110)) < 0.3
    m = place(vendor, mask, "bool", layout)[0]
    assert np.array_equal(vendor.op.Nonzero(m).numpy(), np.argwhere(mask))
    a, x = place(vendor, numbers(mask.shape, "int32", 155, -500, 500), "int32", layout)
    check(vendor.op.MaskedSelect(a, m), x[mask], OpClass.EXACT, "MaskedSelect")


@pytest.mark.parametrize("count", [1, 4096, 4097])
def test_nonzero_where_all_or_nothing_is_true(vendor: Vendor, count: int) -> None:
    ones = vendor.tensor(np.ones(count, bool))
    assert np.array_equal(vendor.op.Nonzero(ones).numpy(), np.arange(count)[:, None])
    assert vendor.op.Nonzero(vendor.tensor(np.zeros(count, np.int32))).shape == (0, 1)


def test_masked_select_names_shapes_that_do_not_fit(vendor: Vendor) -> None:
    a, mask = out_like(vendor, (3, 4), "float32"), vendor.tensor(np.ones((3, 5), bool))
    with pytest.raises(OperatorError, match="4 and 5 elements in dim 1 cannot be broadcast"):
        vendor.op.MaskedSelect(a, mask)
