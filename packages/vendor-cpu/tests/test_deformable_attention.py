"""Attention at learned positions of several feature maps."""

from __future__ import annotations

import numpy as np
import pytest

import references_maps  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like

SHAPES, STARTS = np.array([[3, 2], [1, 2]]), np.array([0, 6])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_attention(vendor: Vendor, dtype: str, layout: str) -> None:
    value, weights = numbers((2, 8, 2, 3), dtype, 124), numbers((2, 2, 2, 2, 2), dtype, 125)
    places = numbers((2, 2, 2, 2, 2, 2), dtype, 126, -0.1, 1.1)
    given = {"value": value, "spatial_shapes": SHAPES, "level_start_index": STARTS,
             "sampling_loc": places, "attn_weight": weights, "im2col_step": 64}  # fmt: skip
    check_operator(vendor, "diopiMsDeformAttnMmcv", dtype, layout, **given)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gradients_are_slopes(vendor: Vendor, dtype: str, layout: str) -> None:
    value, weights = numbers((1, 8, 1, 2), dtype, 127), numbers((1, 2, 1, 2, 2), dtype, 128)
    places = np.array([0.21, 0.34, 0.62, 0.47, 0.84, 0.12, 0.4, 0.9] * 2).reshape(1, 2, 1, 2, 2, 2)
    check_operator(
        vendor, "diopiMsDeformAttnBackwardMmcv", dtype, layout, grad_value=value,
        grad_sampling_loc=places, grad_attn_weight=weights, value=value, spatial_shapes=SHAPES,
        level_start_index=STARTS, sampling_loc=places, attn_weight=weights,
        grad_output=numbers((1, 2, 2), dtype, 129), im2col_step=64,
    )  # fmt: skip


def test_levels_outside_are_told(vendor: Vendor) -> None:
    value, places = out_like(vendor, (1, 8, 1, 2), "float32"), np.zeros((1, 1, 1, 2, 1, 2))
    weights = out_like(vendor, (1, 1, 1, 2, 1), "float32")
    with pytest.raises(OperatorError, match="level 1, from 7 on, does not lie within the values"):
        vendor.op.MsDeformAttnMmcv(
            value, vendor.tensor(SHAPES), vendor.tensor(np.array([0, 7])),
            vendor.tensor(places.astype(np.float32)), weights, 64,
        )  # fmt: skip
