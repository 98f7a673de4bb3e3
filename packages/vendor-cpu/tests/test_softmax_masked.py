"""Softmax of scaled scores some of which are hidden."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run
from support import FLOATS, LAYOUTS, Array, numbers, out_like


def hidden(mask: Array, shape: tuple[int, ...], fixed_triu_mask: bool) -> Array:
    above = np.triu(np.ones(shape, bool), 1)
    return above if fixed_triu_mask else np.broadcast_to(mask, shape) != 0


def scaled_masked_softmax(
    input: Array, mask: Array, scale: float, fixed_triu_mask: bool
) -> dict[str, Expected]:
    scores = np.where(hidden(mask, input.shape, fixed_triu_mask), -10000, scale * input)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return {"output": Expected(powers / powers.sum(axis=-1, keepdims=True), input.shape[-1])}


def scaled_masked_softmax_backward(
    grad_output: Array, output: Array, mask: Array, scale: float, fixed_triu_mask: bool
) -> dict[str, Expected]:
    g, y = grad_output, output
    seen = ~hidden(mask, y.shape, fixed_triu_mask)
    value = scale * y * (g - (g * y).sum(axis=-1, keepdims=True))
    size = np.abs(scale * y) * (np.abs(g) + np.abs(g * y).sum(axis=-1, keepdims=True))
    return {"grad_input": Expected(value * seen, y.shape[-1], size)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("triangle", [True, False])
@pytest.mark.parametrize("kind", ["bool", "uint8"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_masked(vendor: Vendor, dtype: str, kind: str, triangle: bool, layout: str) -> None:
    shape = (2, 3, 7, 9)
    for mask_shape in ((2, 1, 7, 9), shape, (9,)):
        mask = numbers(mask_shape, "bool", 1)
        rule = {"mask": mask, "scale": 0.7, "fixed_triu_mask": triangle}
        run(
            vendor, "diopiScaledMaskedSoftmax", scaled_masked_softmax, dtype, layout,
            dtypes={"mask": kind}, input=numbers(shape, dtype, 2), **rule,
        )  # fmt: skip
        run(
            vendor, "diopiScaledMaskedSoftmaxBackward", scaled_masked_softmax_backward, dtype,
            layout, dtypes={"mask": kind}, grad_output=numbers(shape, dtype, 3),
            output=numbers(shape, dtype, 4, 0, 0.3), **rule,
        )  # fmt: skip


def test_rows_that_are_hidden_whole_are_even(vendor: Vendor) -> None:
    out, x = out_like(vendor, (1, 1, 2, 4), "float32"), out_like(vendor, (1, 1, 2, 4), "float32")
    mask = vendor.tensor(np.ones((1, 1, 2, 4), bool))
    vendor.op.ScaledMaskedSoftmax(out, x, mask, 1.0, False)
    assert np.all(out.numpy() == 0.25)


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 4), "float32")
    mask = vendor.tensor(np.ones((3,), bool))
    with pytest.raises(OperatorError, match=r"the input has 2 dimensions; it needs 4"):
        vendor.op.ScaledMaskedSoftmax(x, x, mask, 1.0, False)
    x = out_like(vendor, (1, 1, 2, 4), "float32")
    with pytest.raises(OperatorError, match=r"the mask has 3 elements"):
        vendor.op.ScaledMaskedSoftmax(x, x, mask, 1.0, False)
