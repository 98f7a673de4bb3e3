"""Tests of batch normalization and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from normalization import norm_gradient, normalised
from support import FLOATS, check, exact, numbers, out_like, place, terms


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((6, 5), "dense"),
        ((6, 5, 9), "dense"),
        ((4, 5, 6, 7), "dense"),
        ((4, 5, 6, 7), "channels last"),
        ((3, 5, 71, 20), "dense"),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_batch_norm_and_its_gradient(
    vendor: Vendor, dtype: str, shape: tuple[int, ...], layout: str, training: bool
) -> None:
    axes = (0, *range(2, len(shape)))
    count = int(np.prod(shape)) // 5
    view = (1, 5, *(1,) * (len(shape) - 2))
    a, x = place(vendor, numbers(shape, dtype, 91), dtype, layout)
    others = "transposed" if layout == "dense" else layout
    g, grad = place(vendor, numbers(shape, dtype, 92), dtype, others)
    w, weight = place(vendor, numbers((5,), dtype, 93, 0.5, 2), dtype)
    b, bias = place(vendor, numbers((5,), dtype, 94), dtype)
    rm, running_mean = place(vendor, numbers((5,), dtype, 95), dtype)
    rv, running_var = place(vendor, numbers((5,), dtype, 96, 0.5, 2), dtype)
    hat, mu, scale = normalised(x, axes)
    if not training:
        mu = running_mean.reshape(view)
        scale = 1 / np.sqrt(running_var.reshape(view) + np.longdouble(1e-5))
        hat = (x - mu) * scale
    statistics = "float64" if dtype == "float64" else "float32"
    out = out_like(vendor, shape, dtype, layout)
    mean, invstd = out_like(vendor, (5,), statistics), out_like(vendor, (5,), statistics)
    vendor.op.BatchNorm(out, mean, invstd, a, w, b, rm, rv, training, 0.1, 1e-5)
    wide = weight.reshape(view)
    size = (np.abs(x) + np.abs(mu)) * scale * wide + np.abs(bias.reshape(view))
    check(
        out, hat * wide + bias.reshape(view), OpClass.REDUCTION, "BatchNorm", **terms(count, size)
    )
    if training:
        check(
            mean,
            mu.reshape(5),
            OpClass.REDUCTION,
            "mean",
            **terms(count, np.abs(x).mean(axis=axes)),
        )
        check(
            invstd, scale.reshape(5), OpClass.REDUCTION, "invstd", **terms(count, scale.reshape(5))
        )
        momentum = np.longdouble(0.1)
        unbiased = ((x - mu) ** 2).sum(axis=axes) / (count - 1)
        new_mean = (1 - momentum) * running_mean + momentum * mu.reshape(5)
        new_var = (1 - momentum) * running_var + momentum * unbiased
        check(
            rm,
            new_mean,
            OpClass.REDUCTION,
            "running_mean",
            **terms(count, np.abs(running_mean) + 1),
        )
        check(rv, new_var, OpClass.REDUCTION, "running_var", **terms(count, new_var))
        # The gradient uses the saved statistics.
        rm_in, rv_in = None, None
    else:
        assert np.array_equal(rm.float32(), running_mean.astype(np.float32))
        rm_in, rv_in = rm, rv

    gi, gw, gb = (
        out_like(vendor, shape, dtype, layout),
        out_like(vendor, (5,), dtype),
        out_like(vendor, (5,), dtype),
    )
    saved = (mean, invstd) if training else (None, None)
    vendor.op.BatchNormBackward(gi, gw, gb, g, a, w, rm_in, rv_in, *saved, training, 1e-5)
    scaled = grad * wide
    want = norm_gradient(scaled, hat, scale, axes) if training else scaled * scale
    spread = (
        np.abs(scaled)
        + np.abs(scaled).mean()
        + (np.abs(hat) + np.abs(mu) * scale) * np.abs(scaled * hat).mean()
    )
    check(gi, want, OpClass.REDUCTION, "grad_input", **terms(4 * count, scale * spread))
    check(
        gw,
        (grad * hat).sum(axis=axes),
        OpClass.REDUCTION,
        "grad_weight",
        **terms(4 * count, (np.abs(grad) * (np.abs(x) + np.abs(mu)) * scale).sum(axis=axes)),
    )
    check(
        gb,
        grad.sum(axis=axes),
        OpClass.REDUCTION,
        "grad_bias",
        **terms(count, np.abs(grad).sum(axis=axes)),
    )


def test_batch_norm_without_statistics_needs_training(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="running_mean"):
        vendor.op.BatchNorm(x, None, None, x, None, None, None, None, False, 0.1, 1e-5)


@pytest.mark.parametrize("what", ["save_mean", "weight", "running_var"])
def test_batch_norm_names_what_has_another_number_of_channels(vendor: Vendor, what: str) -> None:
    x, wrong = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4,), "float32")
    parts = dict.fromkeys(("save_mean", "weight", "running_var"))
    parts[what] = wrong
    with pytest.raises(OperatorError, match=rf"{what} has 4 elements; the input has 3 channels"):
        vendor.op.BatchNorm(
            x,
            parts["save_mean"],
            None,
            x,
            parts["weight"],
            None,
            None,
            parts["running_var"],
            True,
            0.1,
            1e-5,
        )


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
