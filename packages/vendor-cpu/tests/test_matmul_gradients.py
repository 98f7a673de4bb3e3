"""Gradients of matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import check, numbers, out_like, place


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiMatmulBackward")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_long_batch_is_summed_in_the_wide_dtype(vendor: Vendor, dtype: str) -> None:
    """The left factor is broadcast too, so the sum is not a single product."""
    for shape in ((600, 3, 4), (600, 1, 3, 4)):
        left, x = place(vendor, numbers(shape, dtype, 1), dtype)
        right, y = place(vendor, numbers((4, 2), dtype, 2), dtype)
        out = np.matmul(x, y) if len(shape) == 3 else np.broadcast_to(x @ y, (600, 5, 3, 2))
        grad, g = place(vendor, numbers(out.shape, dtype, 3), dtype)
        if len(shape) == 4:
            right, y = place(vendor, numbers((5, 4, 2), dtype, 2), dtype)
        to = out_like(vendor, y.shape, dtype)
        vendor.op.MatmulBackward(None, to, grad, left, right)
        each = np.matmul(np.swapaxes(x, -1, -2), g)
        size = np.matmul(np.abs(np.swapaxes(x, -1, -2)), np.abs(g))
        check(
            to,
            each.sum(axis=0),
            OpClass.MATMUL,
            "MatmulBackward",
            reduction_length=600 * 3,
            magnitude=size.sum(axis=0),
        )


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    def tensor(*shape: int):  # type: ignore[no-untyped-def]
        return out_like(vendor, shape, "float32")

    wrong = (
        ((2, 4), (2, 3), (5, 4)),
        ((2, 5), (2, 3), (3, 4)),
        ((7, 2, 4), (2, 3), (3, 4)),
        ((7, 2, 4), (7, 2, 3), (6, 3, 4)),
        ((6, 2, 4), (1, 2, 3), (1, 3, 4)),
        ((4,), (2, 3), (3, 4)),
    )
    for grad, left, right in wrong:
        a, b = tensor(*left), tensor(*right)
        with pytest.raises(OperatorError, match="does not have the product's shape"):
            vendor.op.MatmulBackward(tensor(*left), tensor(*right), tensor(*grad), a, b)
    with pytest.raises(OperatorError, match="shape of its tensor"):
        vendor.op.MatmulBackward(tensor(3, 2), None, tensor(2, 4), tensor(2, 3), tensor(3, 4))
    with pytest.raises(OperatorError, match="at least one dimension"):
        vendor.op.MatmulBackward(None, tensor(3), tensor(3), tensor(), tensor(3))
