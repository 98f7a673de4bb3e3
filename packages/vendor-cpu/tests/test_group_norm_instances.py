"""Instance normalisation and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run, slope
from support import FLOATS, LAYOUTS, Array, numbers, out_like

Terms = dict[str, Expected]


def per_channel(values: Array | None, axis: int, ndim: int) -> Array | float:
    if values is None:
        return 1.0
    return values.reshape([-1 if d == axis % ndim else 1 for d in range(ndim)])


def normal(x: Array, axis: int, eps: float) -> tuple[Array, Array, tuple[int, ...]]:
    inside = tuple(d for d in range(1, x.ndim) if d != axis % x.ndim)
    shift = x - x.mean(axis=inside, keepdims=True)
    r = 1 / np.sqrt((shift * shift).mean(axis=inside, keepdims=True) + eps)
    return shift * r, r, inside


def instance_norm(
    input: Array, axis: int, scale: Array | None, bias: Array | None, eps: float
) -> Terms:
    hat, r, inside = normal(input, axis, eps)
    w = per_channel(scale, axis, input.ndim)
    b = 0.0 if bias is None else per_channel(bias, axis, input.ndim)
    length = int(np.prod([input.shape[d] for d in inside]))
    # The mean is off by as much as the sizes of all elements make it.
    size = (np.abs(input) + np.abs(input).mean(axis=inside, keepdims=True)) * r
    return {"output": Expected(hat * w + b, length, np.abs(size * w) + np.abs(b))}


def instance_norm_backward(
    grad_output: Array, input: Array, scale: Array | None, bias: Array | None, axis: int, eps: float
) -> Terms:
    hat, r, inside = normal(input, axis, eps)
    w = per_channel(scale, axis, input.ndim)
    g = grad_output
    means = [(t.mean(axis=inside, keepdims=True)) for t in (g, g * hat, np.abs(g), np.abs(g * hat))]
    length = int(np.prod([input.shape[d] for d in inside]))
    outer = tuple(d for d in range(input.ndim) if d != axis % input.ndim)
    count = input.size // input.shape[axis]
    return {
        "grad_input": Expected(
            w * r * (g - means[0] - hat * means[1]),
            length,
            np.abs(w * r) * (np.abs(g) + means[2] + np.abs(hat) * means[3]),
        ),
        "grad_scale": Expected((g * hat).sum(axis=outer), count, np.abs(g * hat).sum(axis=outer)),
        "grad_bias": Expected(g.sum(axis=outer), count, np.abs(g).sum(axis=outer)),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3, 40), 1), ((2, 5, 6, 3), -1), ((2, 5, 3, 6), 2)]
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_instance_norm(
    vendor: Vendor, dtype: str, shape: tuple[int, ...], axis: int, affine: bool, layout: str
) -> None:
    x, grad = numbers(shape, dtype, 1), numbers(shape, dtype, 2)
    scale, bias = (numbers((3,), dtype, 3 + i) if affine else None for i in range(2))
    rule = {"scale": scale, "bias": bias, "axis": axis, "eps": 1e-5}
    run(vendor, "diopiInstanceNorm", instance_norm, dtype, layout, input=x, **rule)
    run(
        vendor, "diopiInstanceNormBackward", instance_norm_backward, dtype, layout, input=x,
        grad_output=grad, **rule,
    )  # fmt: skip


def test_gradients_are_slopes() -> None:
    x, grad = numbers((2, 3, 5), "float64", 5), numbers((2, 3, 5), "float64", 6)
    scale = numbers((3,), "float64", 7)
    found = instance_norm_backward(grad, x, scale, None, 1, 1e-5)

    def loss(x: Array, scale: Array) -> Array:
        return np.sum(grad * instance_norm(x, 1, scale, None, 1e-5)["output"].value)

    for name, want in (
        ("grad_input", slope(lambda v: loss(v, scale), x)),
        ("grad_scale", slope(lambda v: loss(x, v), scale)),
    ):
        assert np.allclose(found[name].value.astype(float), want.astype(float), 1e-7, 1e-9)


def test_axes_that_are_no_channels(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 3, 4), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiInstanceNorm\] axis 0 of 3 dimensions"):
        vendor.op.InstanceNorm(x, x, 0, None, None, 1e-5)
    with pytest.raises(OperatorError, match=r"scale has 2 elements; the input has 3 channels"):
        vendor.op.InstanceNorm(x, x, 1, out_like(vendor, (2,), "float32"), None, 1e-5)
