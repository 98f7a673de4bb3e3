"""Parts of a tensor, copied and written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import run
from support import EVERY, GRADIENTS, LAYOUTS, Array, numbers, out_like

RANGES = [(0, 0, 9, 2), (1, 1, 4, 1), (-1, -3, -1, 1), (1, -99, 99, 3), (0, 3, 1, 1), (2, 2, 3, 9)]


def at(dim: int, index: int, ndim: int) -> tuple[Any, ...]:
    return (*[slice(None)] * (dim % ndim), index)


def within(dim: int, start: int, end: int, step: int, ndim: int) -> tuple[Any, ...]:
    return (*[slice(None)] * (dim % ndim), slice(start, end, step))


def select(input: Array, dim: int, index: int) -> dict[str, Array]:
    return {"out": input[at(dim, index, input.ndim)]}


def select_backward(
    grad_output: Array, input_sizes: list[int], dim: int, index: int
) -> dict[str, Array]:
    whole = np.zeros(input_sizes, grad_output.dtype)
    whole[at(dim, index, whole.ndim)] = grad_output
    return {"grad_input": whole}


def select_scatter(input: Array, src: Array, dim: int, index: int) -> dict[str, Array]:
    whole = input.copy()
    whole[at(dim, index, whole.ndim)] = src
    return {"out": whole}


def sliced(input: Array, dim: int, start: int, end: int, step: int) -> dict[str, Array]:
    return {"null_out": input[within(dim, start, end, step, input.ndim)]}


def slice_backward(
    grad_output: Array, input_sizes: list[int], dim: int, start: int, end: int, step: int
) -> dict[str, Array]:
    whole = np.zeros(input_sizes, grad_output.dtype)
    whole[within(dim, start, end, step, whole.ndim)] = grad_output
    return {"grad_input": whole}


def slice_scatter(
    input: Array, src: Array, dim: int, start: int, end: int, step: int
) -> dict[str, Array]:
    whole = input.copy()
    whole[within(dim, start, end, step, whole.ndim)] = src
    return {"out": whole}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dim", "index"), [(0, 0), (1, -1), (-1, 4), (-3, -5)])
@pytest.mark.parametrize("dtype", EVERY)
def test_select(vendor: Vendor, dtype: str, dim: int, index: int, layout: str) -> None:
    x = numbers((5, 6, 7), dtype, 1)
    part = numbers(x[at(dim, index, 3)].shape, dtype, 2)
    place = {"dim": dim, "index": index}
    run(vendor, "diopiSelect", select, dtype, layout, input=x, **place)
    run(vendor, "diopiSelectScatter", select_scatter, dtype, layout, input=x, src=part, **place)
    if dtype in GRADIENTS:
        run(
            vendor, "diopiSelectBackward", select_backward, dtype, layout, grad_output=part,
            input_sizes=[5, 6, 7], **place,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dim", "start", "end", "step"), RANGES)
@pytest.mark.parametrize("dtype", EVERY)
def test_slice(
    vendor: Vendor, dtype: str, dim: int, start: int, end: int, step: int, layout: str
) -> None:
    x = numbers((5, 6, 7), dtype, 3)
    part = numbers(x[within(dim, start, end, step, 3)].shape, dtype, 4)
    place = {"dim": dim, "start": start, "end": end, "step": step}
    run(vendor, "diopiSlice", sliced, dtype, layout, input=x, **place)
    run(vendor, "diopiSliceScatter", slice_scatter, dtype, layout, input=x, src=part, **place)
    if dtype in GRADIENTS:
        run(
            vendor, "diopiSliceBackward", slice_backward, dtype, layout, grad_output=part,
            input_sizes=[5, 6, 7], **place,
        )  # fmt: skip


def test_a_vector_gives_a_number(vendor: Vendor) -> None:
    run(vendor, "diopiSelect", select, "int64", input=np.arange(3), dim=0, index=-2)


def test_bad_positions_are_named(vendor: Vendor) -> None:
    x, out = out_like(vendor, (3, 4), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"index 3 is out of range for dim 0 with 3 elements"):
        vendor.op.Select(out, x, 0, 3)
    with pytest.raises(OperatorError, match=r"index -4 is out of range"):
        vendor.op.SelectBackward(x, out, (3, 4), 0, -4)
    with pytest.raises(OperatorError, match=r"step is 0; it must be positive"):
        vendor.op.Slice(x, x, 0, 0, 3, 0)
    with pytest.raises(OperatorError, match=r"without dimensions"):
        vendor.op.Select(out_like(vendor, (), "float32"), out_like(vendor, (), "float32"), 0, 0)
    with pytest.raises(OperatorError, match=r"src does not have the shape of the chosen part"):
        vendor.op.SelectScatter(x, x, x, 0, 0)
    with pytest.raises(OperatorError, match=r"does not have the shape input_sizes"):
        vendor.op.SliceBackward(x, x, (3, 5), 0, 0, 3, 1)
