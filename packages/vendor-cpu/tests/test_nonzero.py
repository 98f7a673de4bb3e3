"""Tests of operators that select elements by value, with data-dependent output sizes."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import LAYOUTS, REALS, check, numbers, out_like, place


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


@pytest.mark.parametrize("name", ["MaskedScatter", "MaskedSelectBackward"])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_masks_that_take_too_many(vendor: Vendor) -> None:
    x, mask = out_like(vendor, (2, 2), "float32"), vendor.tensor(np.ones((2, 2), bool))
    few = out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiMaskedScatter\] the mask selects 4 .* not 3"):
        vendor.op.MaskedScatter(out_like(vendor, (2, 2), "float32"), x, mask, few)
    with pytest.raises(OperatorError, match=r"\[diopiMaskedSelectBackward\] the mask selects 4"):
        vendor.op.MaskedSelectBackward(out_like(vendor, (2, 2), "float32"), few, x, mask)
