"""Tests of group normalization and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from normalization import normalised
from support import ACCUMULATE, FLOATS, LAYOUTS, Array, Exact, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", [(3, 6, 7, 5), (2, 4), (1, 6, 130)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_group_norm_and_its_gradient(
    vendor: Vendor, dtype: str, shape: tuple[int, ...], affine: bool, layout: str
) -> None:
    groups, channels = 2, shape[1]
    wide = ACCUMULATE.get(dtype, dtype)
    a, x = place(vendor, numbers(shape, dtype, 60), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 61), dtype, layout)
    w, weight = place(vendor, numbers((channels,), wide, 62, 0.5, 2), wide)
    b, bias = place(vendor, numbers((channels,), wide, 63), wide)
    if not affine:
        w = b = None
        weight, bias = np.ones(channels, Exact), np.zeros(channels, Exact)

    def split(array: Array) -> Array:
        return array.reshape(shape[0], groups, channels // groups, -1)

    per_channel = (1, groups, channels // groups, 1)
    weight, bias = weight.reshape(per_channel), bias.reshape(per_channel)
    hat, mean, invstd = normalised(split(x), (2, 3))
    count = hat[0, 0].size
    out = out_like(vendor, shape, dtype, layout)
    statistics = [out_like(vendor, (shape[0], groups), wide) for _ in range(2)]
    vendor.op.GroupNorm(out, *statistics, a, w, b, groups, 1e-5)
    size = (np.abs(split(x)) + np.abs(mean) + 3) * invstd * np.abs(weight) + np.abs(bias)
    bound = {"reduction_length": count, "magnitude": (size * 4).reshape(shape)}
    check(out, (hat * weight + bias).reshape(shape), OpClass.REDUCTION, "GroupNorm", **bound)
    for tensor, want in zip(statistics, (mean, invstd), strict=True):
        assert np.allclose(tensor.numpy().astype(float), want[..., 0, 0].astype(float), 1e-5, 1e-5)

    saved = [place(vendor, s[..., 0, 0].astype(np.float64), wide)[0] for s in (mean, invstd)]
    grads = [out_like(vendor, shape, dtype, layout)]
    grads += [out_like(vendor, (channels,), wide) for _ in range(2)]
    vendor.op.GroupNormBackward(*grads, g, a, w, *saved, groups)
    y = split(grad)
    inner = y * weight
    want = invstd * (
        inner
        - inner.mean(axis=(2, 3), keepdims=True)
        - hat * (inner * hat).mean(axis=(2, 3), keepdims=True)
    )
    size = invstd * (np.abs(inner) + 3 * (1 + np.abs(hat)) * 2) * 4
    bound = {"reduction_length": count, "magnitude": size.reshape(shape)}
    check(grads[0], want.reshape(shape), OpClass.REDUCTION, "GroupNormBackward", **bound)
    length = x.size // channels
    for tensor, terms_of in ((grads[1], y * hat), (grads[2], y)):
        magnitude = (np.abs(terms_of) + np.abs(y) * 4).sum(axis=(0, 3)).reshape(-1)
        total = terms_of.sum(axis=(0, 3)).reshape(-1)
        check(
            tensor, total, OpClass.REDUCTION, "GroupNormBackward",
            reduction_length=length, magnitude=magnitude,
        )  # fmt: skip


def test_group_norm_names_bad_groups(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 6, 3), "float32")
    statistics = [out_like(vendor, (2, 4), "float32") for _ in range(2)]
    with pytest.raises(OperatorError, match="num_groups is 4; it must divide the 6 channels"):
        vendor.op.GroupNorm(x, *statistics, x, None, None, 4, 1e-5)
