"""Gradients of reading by lists of indices."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run
from scattered_sums import summed
from support import GRADIENTS, LAYOUTS, Array, numbers, out_like


def index_backward(
    zeros_like_input: Array, indices: list[Array], grad_output: Array
) -> dict[str, Expected]:
    places = tuple(indices)
    return {"grad_input": summed(zeros_like_input.shape, places, grad_output)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", GRADIENTS)
def test_index(vendor: Vendor, dtype: str, layout: str) -> None:
    first, second = np.array([[3, 0, 3], [3, -1, 0]]), np.array([1, 2, 1])
    zeros = np.zeros((4, 5, 6))
    for indices, shape in (([first], (2, 3, 5, 6)), ([first, second], (2, 3, 6))):
        run(
            vendor, "diopiIndexBackward", index_backward, dtype, layout, zeros_like_input=zeros,
            indices=indices, grad_output=numbers(shape, dtype, 15),
        )  # fmt: skip


def test_too_many_indices_are_refused(vendor: Vendor) -> None:
    out, grad = out_like(vendor, (3, 2), "float32"), out_like(vendor, (2, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiIndexBackward\] 3 indices were given for 2"):
        vendor.op.IndexBackward(out, out, [vendor.tensor(np.array([0]))] * 3, grad)
