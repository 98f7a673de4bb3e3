"""Gradients of reading at positions: sums of what was read from one place."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run
from scattered_sums import summed
from support import GRADIENTS, LAYOUTS, Array, numbers, out_like


def index_select_backward(
    grad: Array, input_sizes: list[int], dim: int, index: Array
) -> dict[str, Expected]:
    places = (*[slice(None)] * (dim % len(input_sizes)), index)
    return {"grad_input": summed(tuple(input_sizes), places, grad)}


def gather_backward(
    grad_output: Array, input: Array, dim: int, index: Array
) -> dict[str, Expected]:
    places = list(np.indices(index.shape))
    places[dim] = index
    return {"grad_input": summed(input.shape, tuple(places), grad_output)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", GRADIENTS)
def test_index_select(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    shape = [4, 5, 6]
    index = np.array([3, 0, 3, 1, 3])
    shape[dim] = 5
    for kind in ("int32", "int64"):
        run(
            vendor, "diopiIndexSelectBackward", index_select_backward, dtype, layout,
            dtypes={"index": kind}, grad=numbers(tuple(shape), dtype, 11), input_sizes=[4, 5, 6],
            dim=dim, index=index,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", GRADIENTS)
def test_gather(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    index = np.random.default_rng(12).integers(0, 4, (3, 4, 2))
    run(
        vendor, "diopiGatherBackward", gather_backward, dtype, layout,
        grad_output=numbers(index.shape, dtype, 13), input=numbers((4, 5, 6), dtype, 14), dim=dim,
        index=index,
    )  # fmt: skip


def test_no_dimensions(vendor: Vendor) -> None:
    grad, zero = vendor.tensor(np.array(2.5, np.float32)), vendor.tensor(np.array(0))
    out = out_like(vendor, (), "float32")
    vendor.op.GatherBackward(out, grad, out_like(vendor, (), "float32"), 0, zero)
    assert out.numpy() == 2.5


def test_bad_positions_are_named(vendor: Vendor) -> None:
    out, grad = out_like(vendor, (3, 2), "float32"), out_like(vendor, (2, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiIndexSelectBackward\] index 3 at position 1"):
        vendor.op.IndexSelectBackward(out, grad, (3, 2), 0, vendor.tensor(np.array([0, 3])))
    wrong = vendor.tensor(np.array([[-1, 0], [0, 0]]))
    with pytest.raises(OperatorError, match=r"\[diopiGatherBackward\] index -1 at position 0"):
        vendor.op.GatherBackward(out, grad, out, 0, wrong)
    with pytest.raises(OperatorError, match=r"the index has 2 dimensions; it needs 1"):
        vendor.op.IndexSelectBackward(out, grad, (3, 2), 0, wrong)
