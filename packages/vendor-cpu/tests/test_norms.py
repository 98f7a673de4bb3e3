"""Group and root-mean-square normalisation; half inputs with float parameters."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, Array, Exact, check, exact, numbers, out_like, place

ACCUMULATE = {"float16": "float32", "bfloat16": "float32"}


def normalised(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    mean = x.mean(axis=axes, keepdims=True)
    invstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + Exact(1e-5))
    return (x - mean) * invstd, mean, invstd


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
    terms = {"reduction_length": count, "magnitude": (size * 4).reshape(shape)}
    check(out, (hat * weight + bias).reshape(shape), OpClass.REDUCTION, "GroupNorm", **terms)
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
    terms = {"reduction_length": count, "magnitude": size.reshape(shape)}
    check(grads[0], want.reshape(shape), OpClass.REDUCTION, "GroupNormBackward", **terms)
    length = x.size // channels
    for tensor, terms_of in ((grads[1], y * hat), (grads[2], y)):
        magnitude = (np.abs(terms_of) + np.abs(y) * 4).sum(axis=(0, 3)).reshape(-1)
        total = terms_of.sum(axis=(0, 3)).reshape(-1)
        check(
            tensor, total, OpClass.REDUCTION, "GroupNormBackward",
            reduction_length=length, magnitude=magnitude,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("trailing", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_rms_norm_and_its_gradient(
    vendor: Vendor, dtype: str, trailing: int, affine: bool, layout: str
) -> None:
    shape = (6, 5, 90)
    width, axes = shape[3 - trailing :], tuple(range(3 - trailing, 3))
    count = int(np.prod(width))
    rows = (*shape[: 3 - trailing], *(1,) * trailing)
    wide = ACCUMULATE.get(dtype, dtype)
    a, x = place(vendor, numbers(shape, dtype, 64), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 65), dtype, layout)
    w, weight = place(vendor, numbers(width, dtype, 66, 0.5, 2), dtype)
    b, bias = place(vendor, numbers(width, dtype, 67), dtype)
    if not affine:
        w = b = None
        weight, bias = np.ones(width, Exact), np.zeros(width, Exact)
    inverse = 1 / np.sqrt((x * x).mean(axis=axes, keepdims=True) + Exact(1e-6))
    hat = x * inverse
    out, scale = out_like(vendor, shape, dtype, layout), out_like(vendor, rows, wide)
    vendor.op.RMSNorm(out, scale, a, width, w, b, 1e-6)
    size = np.abs(hat * weight) + np.abs(bias)
    terms = {"reduction_length": count, "magnitude": size}
    check(out, hat * weight + bias, OpClass.REDUCTION, "RMSNorm", **terms)
    assert np.allclose(scale.numpy().astype(float), inverse.astype(float), 1e-5)

    saved, inverse = place(vendor, inverse.astype(np.float64), wide)
    hat = x * inverse
    grads = [out_like(vendor, shape, dtype, layout)]
    grads += [out_like(vendor, width, wide) for _ in range(2)]
    vendor.op.RMSNormBackward(*grads, g, a, w, b, saved, width, 1e-6)
    inner = grad * weight
    want = inverse * (inner - hat * (inner * hat).mean(axis=axes, keepdims=True))
    size = np.abs(inner) + np.abs(hat) * np.abs(inner * hat).mean(axis=axes, keepdims=True)
    terms = {"reduction_length": count, "magnitude": inverse * size}
    check(grads[0], want, OpClass.REDUCTION, "RMSNormBackward", **terms)
    outer = tuple(range(3 - trailing))
    length = x.size // count
    for tensor, terms_of in ((grads[1], grad * hat), (grads[2], grad)):
        check(
            tensor, terms_of.sum(axis=outer), OpClass.REDUCTION, "RMSNormBackward",
            reduction_length=length, magnitude=np.abs(terms_of).sum(axis=outer),
        )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(5, 4, 6, 3), (7, 4)], ids=str)
def test_batch_norm_of_half_inputs_keeps_float_statistics(
    vendor: Vendor, dtype: str, shape: tuple[int, ...]
) -> None:
    axes = tuple(d for d in range(len(shape)) if d != 1)
    a, x = place(vendor, numbers(shape, dtype, 68), dtype)
    w, weight = place(vendor, numbers((4,), "float32", 69, 0.5, 2), "float32")
    b, bias = place(vendor, numbers((4,), "float32", 70), "float32")
    running = [vendor.tensor(np.zeros(4, np.float32)), vendor.tensor(np.ones(4, np.float32))]
    out = out_like(vendor, shape, dtype)
    mean, invstd = (out_like(vendor, (4,), "float32") for _ in range(2))
    vendor.op.BatchNorm(out, mean, invstd, a, w, b, *running, True, 0.25, 1e-5)
    hat, center, scale = normalised(x, axes)
    column = (1, 4) + (1,) * (len(shape) - 2)
    want = hat * weight.reshape(column) + bias.reshape(column)
    got = exact(out.numpy(), dtype)
    assert np.all(
        np.abs(got - want) <= (0.001 if dtype == "float16" else 0.008) * (1 + np.abs(want))
    )
    assert np.allclose(mean.numpy(), center.reshape(-1).astype(float), atol=1e-6)
    assert np.allclose(invstd.numpy(), scale.reshape(-1).astype(float), rtol=1e-5)
    assert np.allclose(running[0].numpy(), 0.25 * center.reshape(-1).astype(float), atol=1e-6)


def test_group_norm_names_bad_groups(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 6, 3), "float32")
    statistics = [out_like(vendor, (2, 4), "float32") for _ in range(2)]
    with pytest.raises(OperatorError, match="num_groups is 4; it must divide the 6 channels"):
        vendor.op.GroupNorm(x, *statistics, x, None, None, 4, 1e-5)


def test_softmax_in_the_type_of_a_wider_output(vendor: Vendor) -> None:
    for dtype in ("float16", "bfloat16"):
        a, x = place(vendor, numbers((5, 70), dtype, 71), dtype)
        out = out_like(vendor, (5, 70), "float32")
        vendor.op.Softmax(out, a, 1)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        y = e / e.sum(axis=1, keepdims=True)
        check(out, y, OpClass.REDUCTION, "Softmax", reduction_length=70, magnitude=y)
