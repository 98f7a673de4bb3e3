"""Tests of index_fill, out of place and in place."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, NUMBERS, REALS, Array, check, check_untouched, numbers, out_like, place

SHAPE = (3, 4, 5)


def filled(x: Array, dim: int, index: Array, value: Array) -> Array:
    """Return the reference, computed with a mask to avoid numpy's rules for index arrays."""
    named = {int(i) % x.shape[dim] for i in index.ravel()}
    mask = np.array([i in named for i in range(x.shape[dim])])
    sizes = [1] * x.ndim
    sizes[dim] = -1
    return np.where(mask.reshape(sizes), value, x).astype(x.dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_value_of_a_tensor(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 431), dtype, layout)
    v, value = place(vendor, numbers((), dtype, 432), dtype)
    # The same index twice, once counted from the end.
    index = np.array([2, -1, 0, 2])
    want = filled(x, dim, index, value)
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op.IndexFill(out, a, dim, vendor.tensor(index), v)
    check(out, want, OpClass.EXACT, "IndexFill")
    check(a, x, OpClass.EXACT, "IndexFill")
    vendor.op.IndexFillInp(a, dim, vendor.tensor(index), v)
    check(a, want, OpClass.EXACT, "IndexFillInp")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, -2, 2])
@pytest.mark.parametrize("dtype", REALS)
def test_number(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 433), dtype, layout)
    index = np.array([1])
    value = place(vendor, np.array(3), dtype)[1]
    want = filled(x, dim, index, value)
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op.IndexFillScalar(out, a, dim, vendor.tensor(index), 3)
    check(out, want, OpClass.EXACT, "IndexFillScalar")
    check(a, x, OpClass.EXACT, "IndexFillScalar")
    vendor.op.IndexFillInpScalar(a, dim, vendor.tensor(index), 3)
    check(a, want, OpClass.EXACT, "IndexFillInpScalar")


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_value_of_another_dtype_is_converted(vendor: Vendor, dtype: str, kind: str) -> None:
    a, x = place(vendor, numbers((2, 3), dtype, 434), dtype)
    v = place(vendor, np.array([5]), kind)[0]
    want = filled(x, 1, np.array([1]), np.array(5))
    vendor.op.IndexFillInp(a, 1, vendor.tensor(np.array([1])), v)
    check(a, want, OpClass.EXACT, "IndexFillInp")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_elements(vendor: Vendor, dtype: str) -> None:
    x = (numbers(SHAPE, "float64", 435) + 1j * numbers(SHAPE, "float64", 436)).astype(dtype)
    value = np.array(2 - 3j, dtype)
    out = vendor.tensor(np.zeros_like(x))
    index = vendor.tensor(np.array([3, -4]))
    vendor.op.IndexFill(out, vendor.tensor(x), 1, index, vendor.tensor(value))
    assert np.array_equal(out.numpy(), filled(x, 1, np.array([3, 0]), value))


def test_index_with_strides_or_without_dimensions(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((6, 4), "float32", 437), "float32")
    index = np.array([5, 0, 2, 0, -5, 0])[::2]
    want = filled(x, 0, index, np.array(7))
    out = out_like(vendor, (6, 4), "float32")
    vendor.op.IndexFillScalar(out, a, 0, vendor.tensor(index), 7)
    check(out, want, OpClass.EXACT, "IndexFillScalar")
    vendor.op.IndexFillScalar(out, a, 0, vendor.tensor(np.array(4)), 7)
    check(out, filled(x, 0, np.array([4]), np.array(7)), OpClass.EXACT, "IndexFillScalar")


def test_nothing_to_fill(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((3, 4), "float32", 438), "float32")
    out = out_like(vendor, (3, 4), "float32")
    vendor.op.IndexFillScalar(out, a, 0, vendor.tensor(np.zeros(0, np.int64)), 7)
    check(out, x, OpClass.EXACT, "IndexFillScalar")
    empty = out_like(vendor, (0, 4), "float32")
    vendor.op.IndexFillInpScalar(empty, 1, vendor.tensor(np.array([2])), 7)
    assert empty.numpy().shape == (0, 4)


def test_tensor_without_dimensions_has_one_element(vendor: Vendor) -> None:
    a = vendor.tensor(np.array(4, np.float32))
    vendor.op.IndexFillInp(a, -1, vendor.tensor(np.array([0])), vendor.tensor(np.array(9)))
    assert a.numpy() == 9.0


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_value_that_is_no_number(vendor: Vendor, value: float) -> None:
    a, x = place(vendor, numbers((3, 4), "float16", 439), "float16")
    vendor.op.IndexFillInpScalar(a, 1, vendor.tensor(np.array([3])), value)
    check(a, filled(x, 1, np.array([3]), np.array(value)), OpClass.EXACT, "IndexFillInpScalar")


@pytest.mark.parametrize("bad", [3, -4])
def test_index_out_of_range_is_named_and_nothing_written(vendor: Vendor, bad: int) -> None:
    a, x = place(vendor, numbers((3, 4), "float32", 440), "float32")
    index = vendor.tensor(np.array([0, bad]))
    message = rf"\[diopiIndexFillInp\] index {bad} at position 1 is out of range \[-3, 3\)"
    with pytest.raises(OperatorError, match=message):
        vendor.op.IndexFillInp(a, 0, index, vendor.tensor(np.array(1, np.float32)))
    check_untouched(vendor, a, x, "IndexFillInp")


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    a, index = out_like(vendor, (3, 4), "float32"), vendor.tensor(np.array([0]))
    one = vendor.tensor(np.array(1, np.float32))
    with pytest.raises(OperatorError, match="dim 2 is out of range for a tensor with 2 dim"):
        vendor.op.IndexFill(out_like(vendor, (3, 4), "float32"), a, 2, index, one)
    with pytest.raises(OperatorError, match="the value has 2 elements; it needs 1"):
        vendor.op.IndexFillInp(a, 0, index, vendor.tensor(np.ones(2, np.float32)))
    with pytest.raises(OperatorError, match="the index has 2 dimensions; it needs 1"):
        vendor.op.IndexFillInp(a, 0, vendor.tensor(np.array([[0]])), one)
    with pytest.raises(OperatorError, match="output does not have the shape of the input"):
        vendor.op.IndexFill(out_like(vendor, (4, 3), "float32"), a, 0, index, one)
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.IndexFillInp(a, 0, vendor.tensor(np.array([0.0])), one)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_index_fill(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 5), dtype, 309), dtype, layout)
    index = vendor.tensor(np.array([2, -1, 0]))
    want = x.copy()
    np.moveaxis(want, dim, 0)[[2, -1, 0]] = 1
    out = out_like(vendor, (3, 4, 5), dtype, layout)
    vendor.op.IndexFillScalar(out, a, dim, index, 1)
    check(out, want, OpClass.EXACT, "IndexFillScalar")
    one = vendor.tensor(np.array(1, np.float32))
    vendor.op.IndexFill(out, a, dim, index, one)
    check(out, want, OpClass.EXACT, "IndexFill")
    vendor.op.IndexFillInp(a, dim, index, one)
    check(a, want, OpClass.EXACT, "IndexFillInp")


def test_index_fill_out_of_range_is_named(vendor: Vendor) -> None:
    a = out_like(vendor, (3, 4), "float32")
    with pytest.raises(OperatorError, match=r"index -4 at position 0 is out of range \[-3, 3\)"):
        vendor.op.IndexFillInpScalar(a, 0, vendor.tensor(np.array([-4])), 1)
