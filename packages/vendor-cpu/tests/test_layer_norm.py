"""Tests of layer normalization and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from diopi_proto.tolerance import OpClass
from normalization import norm_gradient, normalised
from support import ACCUMULATE, FLOATS, LAYOUTS, check, numbers, out_like, place, terms


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("trailing", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_norm_and_its_gradient(
    vendor: Vendor, dtype: str, trailing: int, affine: bool, layout: str
) -> None:
    shape = (6, 5, 90)
    rows, width = shape[: 3 - trailing], shape[3 - trailing :]
    axes = tuple(range(3 - trailing, 3))
    count = int(np.prod(width))
    a, x = place(vendor, numbers(shape, dtype, 85), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 86), dtype, layout)
    w, weight = place(vendor, numbers(width, dtype, 87, 0.5, 2), dtype)
    b, bias = place(vendor, numbers(width, dtype, 88), dtype)
    if not affine:
        weight, bias = np.ones_like(weight), np.zeros_like(bias)
    out = out_like(vendor, shape, dtype, layout)
    statistics = "float64" if dtype == "float64" else "float32"
    stats = (*rows, *(1,) * trailing)
    mean, invstd = out_like(vendor, stats, statistics), out_like(vendor, stats, statistics)
    hat, mu, scale = normalised(x, axes)
    parts: tuple[Tensor | None, Tensor | None] = (w, b) if affine else (None, None)
    vendor.op.LayerNorm(out, mean, invstd, a, *parts, width, 1e-5)
    size = (np.abs(x) + np.abs(mu)) * scale * np.abs(weight) + np.abs(bias)
    check(out, hat * weight + bias, OpClass.REDUCTION, "LayerNorm", **terms(count, size))
    check(
        mean,
        mu,
        OpClass.REDUCTION,
        "mean",
        **terms(count, np.abs(x).mean(axis=axes, keepdims=True)),
    )
    check(invstd, scale, OpClass.REDUCTION, "invstd", **terms(count, scale))

    gi = out_like(vendor, shape, dtype)
    gw, gb = (out_like(vendor, width, dtype) for _ in range(2)) if affine else (None, None)
    vendor.op.LayerNormBackward(gi, gw, gb, g, a, *parts, mean, invstd, width)
    scaled = grad * weight
    size = scale * (
        np.abs(scaled)
        + np.abs(scaled).mean()
        + np.abs(hat) * np.abs(scaled * hat).mean(axis=axes, keepdims=True)
    )
    check(
        gi,
        norm_gradient(scaled, hat, scale, axes),
        OpClass.REDUCTION,
        "grad_input",
        **terms(4 * count, size),
    )
    if gw is not None and gb is not None:
        outer = tuple(range(3 - trailing))
        n = int(np.prod(rows))
        check(
            gw,
            (grad * hat).sum(axis=outer),
            OpClass.REDUCTION,
            "grad_weight",
            **terms(4 * n, np.abs(grad * (np.abs(hat) + np.abs(mu) * scale)).sum(axis=outer)),
        )
        check(
            gb,
            grad.sum(axis=outer),
            OpClass.REDUCTION,
            "grad_bias",
            **terms(n, np.abs(grad).sum(axis=outer)),
        )


def test_layer_norm_gives_only_the_gradients_asked_for(vendor: Vendor) -> None:
    x = place(vendor, numbers((4, 8), "float32", 89), "float32")[0]
    stats = [vendor.tensor(np.ones((4, 1), np.float32)) for _ in range(2)]
    full, alone = (out_like(vendor, (8,), "float32") for _ in range(2))
    weight = vendor.tensor(np.ones(8, np.float32))
    vendor.op.LayerNormBackward(None, full, None, x, x, weight, None, *stats, (8,))
    vendor.op.LayerNormBackward(
        out_like(vendor, (4, 8), "float32"), alone, None, x, x, weight, None, *stats, (8,)
    )
    assert np.array_equal(full.numpy(), alone.numpy())


@pytest.mark.parametrize(("count", "width"), [(3, 8), (4, 7)])
def test_layer_norm_refuses_statistics_and_weights_of_other_sizes(
    vendor: Vendor, count: int, width: int
) -> None:
    x, stats = out_like(vendor, (4, 8), "float32"), out_like(vendor, (count, 1), "float32")
    weight = out_like(vendor, (width,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiLayerNorm\]"):
        vendor.op.LayerNorm(x, stats, stats, x, weight, None, (8,), 1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_form_with_an_axis_is_the_same(vendor: Vendor, dtype: str, axis: int) -> None:
    shape = (4, 5, 6)
    width, wide = shape[axis:], ACCUMULATE.get(dtype, dtype)
    rows = (*shape[:axis], *(1,) * len(width))
    x, g = (place(vendor, numbers(shape, dtype, 81 + i), dtype)[0] for i in range(2))
    w, b = (place(vendor, numbers(width, dtype, 83 + i), dtype)[0] for i in range(2))

    def outputs() -> list[Tensor]:
        return [out_like(vendor, shape, dtype), *(out_like(vendor, rows, wide) for _ in range(2))]

    def gradients() -> list[Tensor]:
        return [out_like(vendor, shape, dtype), *(out_like(vendor, width, dtype) for _ in range(2))]

    want, got = outputs(), outputs()
    vendor.op.LayerNorm(*want, x, w, b, width, 1e-5)
    vendor.op.LayerNormGB(*got, x, w, b, 1e-5, axis)
    grads_want, grads_got = gradients(), gradients()
    vendor.op.LayerNormBackward(*grads_want, g, x, w, b, want[1], want[2], width)
    vendor.op.LayerNormGBBackward(*grads_got, g, x, w, b, got[1], got[2], axis)
    for one, other in zip(got + grads_got, want + grads_want, strict=True):
        assert one.numpy().tobytes() == other.numpy().tobytes()
    with pytest.raises(OperatorError, match=r"\[diopiLayerNormGB\] dim 3 is out of range"):
        vendor.op.LayerNormGB(*got, x, w, b, 1e-5, 3)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("rows", [7, 8, 32, 33, 70])
@pytest.mark.parametrize("width", [1, 2, 25, 64, 65])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_short_rows(vendor: Vendor, dtype: str, width: int, rows: int, affine: bool) -> None:
    a, x = place(vendor, numbers((rows, width), dtype, 89), dtype)
    w, weight = place(vendor, numbers((width,), dtype, 90, 0.5, 2), dtype)
    b, bias = place(vendor, numbers((width,), dtype, 91), dtype)
    parts: tuple[Tensor | None, Tensor | None] = (w, b) if affine else (None, None)
    if not affine:
        weight, bias = np.ones_like(weight), np.zeros_like(bias)
    out = out_like(vendor, (rows, width), dtype)
    mean, invstd = out_like(vendor, (rows, 1), "float32"), out_like(vendor, (rows, 1), "float32")
    vendor.op.LayerNorm(out, mean, invstd, a, *parts, (width,), 1e-5)
    hat, mu, scale = normalised(x, (1,))
    size = (np.abs(x) + np.abs(mu)) * scale * np.abs(weight) + np.abs(bias)
    check(out, hat * weight + bias, OpClass.REDUCTION, "LayerNorm", **terms(width, size))
    check(mean, mu, OpClass.REDUCTION, "mean", **terms(width, np.abs(x).mean(1, keepdims=True)))
    check(invstd, scale, OpClass.REDUCTION, "invstd", **terms(width, scale))


@pytest.mark.cpu_path
def test_short_rows_some_of_whose_squares_overflow(vendor: Vendor) -> None:
    x = np.arange(10 * 6, dtype=np.float32).reshape(10, 6)
    x[4] = [1e38, -1e38, 3e37, 0, 1, -3e37]
    out, mean, invstd = (out_like(vendor, s, "float32") for s in ((10, 6), (10,), (10,)))
    vendor.op.LayerNorm(out, mean, invstd, vendor.tensor(x), None, None, (6,), 1e-5)
    wide = x.astype(np.float64)
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.cpu_path
@pytest.mark.parametrize("step", [0.0, 3e19, 1e38])
def test_rows_whose_sums_or_squares_alone_overflow(vendor: Vendor, step: float) -> None:
    x = np.full((3, 12), 1e38, np.float32)
    x[:, ::2] -= step
    wide = x.astype(np.float64)
    deviation = wide.std(1, keepdims=True)
    parts = [out_like(vendor, shape, "float32") for shape in ((3, 12), (3,), (3,))]
    vendor.op.LayerNorm(*parts, vendor.tensor(x), None, None, (12,), 1e-5)
    got, mean, invstd = (part.numpy() for part in parts)
    np.testing.assert_allclose(mean, wide.mean(1), rtol=1e-6)
    np.testing.assert_allclose(invstd, 1 / np.sqrt(deviation[:, 0] ** 2 + 1e-5), rtol=1e-6)
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(deviation**2 + 1e-5)
    # The mean of equal elements is rounded once to their dtype.
    assert np.isfinite(got).all()
    if step:
        np.testing.assert_allclose(got, want, rtol=1e-5)
