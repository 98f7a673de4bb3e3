"""Softmax, normalisations and losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, Array, check, exact, numbers, out_like, place


def softmax(x: Array, dim: int) -> Array:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def terms(count: int, magnitude: Any) -> dict[str, Any]:
    return {"reduction_length": count, "magnitude": magnitude}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_and_its_gradient(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    shape = (4, 7, 130)
    a, x = place(vendor, numbers(shape, dtype, 81, -5, 5), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 82), dtype, layout)
    out = out_like(vendor, shape, dtype, layout)
    count = shape[dim]
    y = softmax(x, dim)
    vendor.op.Softmax(out, a, dim)
    check(out, y, OpClass.REDUCTION, "Softmax", **terms(count, y))
    vendor.op.LogSoftmax(out, a, dim)
    check(out, np.log(y), OpClass.REDUCTION, "LogSoftmax", **terms(count, np.abs(np.log(y)) + 10))

    p, probabilities = place(vendor, y.astype(np.float64), dtype, layout)
    dot = (grad * probabilities).sum(axis=dim, keepdims=True)
    size = (np.abs(grad * probabilities)).sum(axis=dim, keepdims=True)
    vendor.op.SoftmaxBackward(out, g, p, dim)
    want = (grad - dot) * probabilities
    check(
        out,
        want,
        OpClass.REDUCTION,
        "SoftmaxBackward",
        **terms(count, (np.abs(grad) + size) * probabilities),
    )

    logs, values = place(vendor, np.log(y).astype(np.float64), dtype, layout)
    total = grad.sum(axis=dim, keepdims=True)
    size = np.abs(grad).sum(axis=dim, keepdims=True)
    vendor.op.LogSoftmaxBackward(out, g, logs, dim)
    want = grad - np.exp(values) * total
    check(
        out,
        want,
        OpClass.REDUCTION,
        "LogSoftmaxBackward",
        **terms(count, np.abs(grad) + np.exp(values) * size),
    )


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), ()], ids=str)
def test_softmax_of_small_shapes(vendor: Vendor, shape: tuple[int, ...]) -> None:
    out = out_like(vendor, shape, "float32")
    vendor.op.Softmax(out, place(vendor, numbers(shape, "float32", 83), "float32")[0], 0)
    assert np.array_equal(out.numpy(), np.ones(shape))


def test_softmax_survives_large_inputs_and_works_in_place(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([[1e4, 1e4 - 1], [-1e4, 1e4]], np.float32))
    vendor.op.Softmax(a, a, 1)
    assert np.allclose(a.numpy(), [[0.7310586, 0.26894143], [0, 1]], atol=1e-7)


def test_softmax_names_a_bad_dim(vendor: Vendor) -> None:
    a = out_like(vendor, (2, 3), "float32")
    message = r"\[diopiSoftmax\] dim 3 is out of range for a tensor with 2 dimensions"
    with pytest.raises(OperatorError, match=message):
        vendor.op.Softmax(a, a, 3)


def test_softmax_of_many_rows(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((500, 1030), "float32", 84, -5, 5), "float32")
    out = out_like(vendor, (500, 1030), "float32")
    vendor.op.Softmax(out, a, -1)
    y = softmax(x, -1)
    check(out, y, OpClass.REDUCTION, "Softmax", **terms(1030, y))


def normalised(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array, Array]:
    mean = x.mean(axis=axes, keepdims=True)
    invstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + np.longdouble(eps))
    return (x - mean) * invstd, mean, invstd


def norm_gradient(g: Array, hat: Array, invstd: Array, axes: tuple[int, ...]) -> Array:
    return invstd * (
        g - g.mean(axis=axes, keepdims=True) - hat * (g * hat).mean(axis=axes, keepdims=True)
    )


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
    hat, mu, scale = normalised(x, axes, 1e-5)
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
    hat, mu, scale = normalised(x, axes, 1e-5)
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
        # The gradient uses what was saved.
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


@pytest.mark.parametrize(("count", "width"), [(3, 8), (4, 7)])
def test_layer_norm_refuses_statistics_and_weights_of_other_sizes(
    vendor: Vendor, count: int, width: int
) -> None:
    x, stats = out_like(vendor, (4, 8), "float32"), out_like(vendor, (count, 1), "float32")
    weight = out_like(vendor, (width,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiLayerNorm\]"):
        vendor.op.LayerNorm(x, stats, stats, x, weight, None, (8,), 1e-5)


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


def nll(x: Array, target: Array, weight: Array, ignored: int) -> tuple[Array, Array]:
    """Loss and weight of each target; x is (N, C, …)."""
    known = target != ignored
    safe = np.where(known, target, 0)
    picked = np.take_along_axis(x, np.expand_dims(safe, 1), axis=1).squeeze(1)
    scale = np.where(known, weight[safe], 0)
    return -picked * scale, scale


@pytest.mark.parametrize("shape", [(9, 5), (3, 5, 4), (2, 5, 3, 3)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_nll_loss_and_its_gradient(vendor: Vendor, dtype: str, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(97)
    a, x = place(vendor, numbers(shape, dtype, 98, -4, 0), dtype, "transposed")
    w, weight = place(vendor, numbers((5,), dtype, 99, 0.5, 2), dtype)
    target = random.integers(0, 5, (shape[0], *shape[2:]))
    target.flat[1] = -100
    t = vendor.tensor(target)
    losses, weights = nll(x, target, weight, -100)
    hot = np.moveaxis(np.eye(5)[np.where(target >= 0, target, 0)], -1, 1) * np.expand_dims(
        weights, 1
    )
    count = target.size
    for reduction, want, total in (
        ("none", losses, 0),
        ("sum", losses.sum(), weights.sum()),
        ("mean", losses.sum() / weights.sum(), weights.sum()),
    ):
        out, total_weight = out_like(vendor, np.shape(want), dtype), out_like(vendor, (), dtype)
        vendor.op.NLLLossV2(out, total_weight, a, t, w, reduction, -100)
        size = np.abs(losses) if reduction == "none" else np.abs(want)
        check(out, want, OpClass.REDUCTION, "NLLLossV2", **terms(count, size))
        check(total_weight, total, OpClass.REDUCTION, "total_weight", **terms(count, np.abs(total)))
        vendor.op.NLLLoss(out, a, t, w, reduction, -100)
        check(out, want, OpClass.REDUCTION, "NLLLoss", **terms(count, size))
        g, grad = place(vendor, numbers(np.shape(want), dtype, 100), dtype)
        wide = np.expand_dims(grad, 1) if reduction == "none" else grad
        gi = out_like(vendor, shape, dtype)
        denominator: Any = 1
        if reduction == "mean":
            denominator = exact(total_weight.numpy(), dtype)
        vendor.op.NLLLossV2Backward(gi, g, a, t, w, total_weight, reduction, -100)
        want_gradient = -hot * wide / denominator
        check(
            gi,
            want_gradient,
            OpClass.REDUCTION,
            "NLLLossV2Backward",
            **terms(4, np.abs(want_gradient)),
        )
        vendor.op.NLLLossBackward(gi, g, a, t, w, reduction, -100)
        check(
            gi,
            -hot * wide / (weights.sum() if reduction == "mean" else 1),
            OpClass.REDUCTION,
            "NLLLossBackward",
            **terms(4, np.abs(want_gradient)),
        )


@pytest.mark.parametrize("weighted", [True, False])
def test_nll_loss_of_many_targets(vendor: Vendor, weighted: bool) -> None:
    count = 40000
    a, x = place(vendor, numbers((count, 3), "float32", 101, -4, 0), "float32")
    target = np.random.default_rng(102).integers(0, 4, count)
    t = vendor.tensor(target)
    w, weight = place(vendor, np.array([0.5, 1, 2] if weighted else np.ones(3)), "float32")
    losses, weights = nll(x, target, weight, 3)
    out, total = out_like(vendor, (), "float32"), out_like(vendor, (), "float32")
    vendor.op.NLLLossV2(out, total, a, t, w if weighted else None, "mean", 3)
    want = losses.sum() / weights.sum()
    check(out, want, OpClass.REDUCTION, "NLLLossV2", **terms(count, np.abs(want)))
    check(total, weights.sum(), OpClass.EXACT, "total_weight")
    gi = out_like(vendor, (count, 3), "float32")
    g, grad = place(vendor, np.array(3.0), "float32")
    vendor.op.NLLLossBackward(gi, g, a, t, w if weighted else None, "mean", 3)
    hot = np.eye(3)[np.where(target < 3, target, 0)]
    want_gradient = -hot * weights[:, None] * grad / weights.sum()
    check(gi, want_gradient, OpClass.REDUCTION, "grad_input", **terms(4, np.abs(want_gradient)))


def test_nll_loss_refuses_targets_that_are_no_classes(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="target 3 at position 1 is out of range for 3 classes"):
        vendor.op.NLLLoss(
            out_like(vendor, (), "float32"), x, vendor.tensor(np.array([0, 3])), None, "mean", -100
        )


def test_mean_loss_without_targets_is_nan(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    x = out_like(vendor, (1, 3), "float32")
    vendor.op.NLLLoss(out, x, vendor.tensor(np.array([-100])), None, "mean", -100)
    assert np.isnan(out.numpy())
