"""Cross entropy and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from referenced import Expected, run, slope
from support import FLOATS, LAYOUTS, Array, numbers, out_like

IGNORED = 1


def shares_of(
    logits: Array, target: Array, weight: Array | None, ignore_index: int, smoothing: float
) -> tuple[Array, Array]:
    """What each log-probability [..., C] is multiplied with, and what a mean divides by."""
    count = logits.shape[-1]
    of = np.ones(count, logits.dtype) if weight is None else weight
    if target.dtype == np.int64:
        chosen = (target[..., None] == np.arange(count)).astype(logits.dtype)
        counted = target != ignore_index
        divisor = np.where(counted, (chosen * of).sum(axis=-1), 0)
    else:
        chosen, counted = np.moveaxis(target, 1 if target.ndim > 1 else 0, -1), True
        divisor = np.ones(chosen.shape[:-1], logits.dtype)
    mixed = chosen * (1 - logits.dtype.type(smoothing)) + logits.dtype.type(smoothing) / count
    return of * mixed * np.asarray(counted)[..., None], divisor


def logits_of(input: Array) -> tuple[Array, Array]:
    """Logits [..., C] and the logarithms of their probabilities."""
    x = np.moveaxis(input, 1 if input.ndim > 1 else 0, -1)
    shifted = x - x.max(axis=-1, keepdims=True)
    return x, shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def cross_entropy(
    input: Array, target: Array, weight: Array | None, reduction: str, ignore_index: int,
    label_smoothing: float,
) -> dict[str, Expected]:  # fmt: skip
    x, logs = logits_of(input)
    shares, divisor = shares_of(x, target, weight, ignore_index, label_smoothing)
    losses = -(shares * logs).sum(axis=-1)
    size = (np.abs(shares) * (np.abs(logs) + 1)).sum(axis=-1)
    if reduction == "none":
        return {"out": Expected(losses, x.shape[-1], size)}
    by = divisor.sum() if reduction == "mean" else 1
    return {"out": Expected(losses.sum() / by, x.size, size.sum() / by)}


def cross_entropy_backward(
    grad_output: Array, input: Array, target: Array, weight: Array | None, reduction: str,
    ignore_index: int, label_smoothing: float,
) -> dict[str, Expected]:  # fmt: skip
    x, logs = logits_of(input)
    shares, divisor = shares_of(x, target, weight, ignore_index, label_smoothing)
    by = divisor.sum() if reduction == "mean" else 1
    g = grad_output[..., None] / by if reduction == "none" else grad_output / by
    spread = np.exp(logs) * shares.sum(axis=-1, keepdims=True)
    dim = 1 if input.ndim > 1 else 0
    return {
        "grad_input": Expected(
            np.moveaxis(g * (spread - shares), -1, dim),
            x.size,
            np.moveaxis(np.abs(g) * (spread + shares), -1, dim),
        )
    }


def target_of(shape: tuple[int, ...], classes: bool, dtype: str) -> Array:
    if not classes:
        return numbers(shape, dtype, 1, 0, 1)
    rest = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    return np.random.default_rng(2).integers(0, shape[1 if len(shape) > 1 else 0], rest)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy(
    vendor: Vendor, dtype: str, classes: bool, reduction: str, layout: str
) -> None:
    for shape in ((7, 5), (3, 4, 6), (2, 5, 3, 2)):
        target = target_of(shape, classes, dtype)
        losses = (shape[0], *shape[2:])
        for weighted, smoothing in ((True, 0.0), (False, 0.2), (True, 0.1)):
            rule: dict[str, Any] = {
                "input": numbers(shape, dtype, 3),
                "target": target,
                "weight": numbers((shape[1],), dtype, 4, 0.5, 2) if weighted else None,
                "reduction": reduction,
                "ignore_index": IGNORED,
                "label_smoothing": smoothing,
            }
            of = {"target": "int64" if classes else dtype}
            run(vendor, "diopiCrossEntropyLoss", cross_entropy, dtype, layout, of, **rule)
            run(
                vendor, "diopiCrossEntropyLossBackward", cross_entropy_backward, dtype, layout, of,
                grad_output=numbers(losses if reduction == "none" else (), dtype, 5), **rule,
            )  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("classes", [True, False])
def test_gradient_is_the_slope(classes: bool, reduction: str) -> None:
    x, target = numbers((4, 3), "float64", 6), target_of((4, 3), classes, "float64")
    weight = numbers((3,), "float64", 7, 0.5, 2).astype(np.longdouble)
    rest = (target, weight, reduction, IGNORED, 0.1)
    want = slope(lambda v: cross_entropy(v, *rest)["out"].value, x)
    one = np.longdouble(1)
    found = cross_entropy_backward(one, x.astype(np.longdouble), *rest)["grad_input"].value
    assert np.allclose(found.astype(float), want.astype(float), 1e-8, 1e-10)


def test_one_sample_without_a_dimension(vendor: Vendor) -> None:
    run(
        vendor, "diopiCrossEntropyLoss", cross_entropy, "float32", dtypes={"target": "int64"},
        input=numbers((5,), "float32", 8), target=np.array(3), weight=None, reduction="mean",
        ignore_index=-100, label_smoothing=0.0,
    )  # fmt: skip


def test_targets_that_do_not_fit(vendor: Vendor) -> None:
    x, out = out_like(vendor, (2, 3), "float32"), out_like(vendor, (), "float32")
    rest = (None, "mean", -100, 0.0)
    wrong = vendor.tensor(np.array([0, 3]))
    with pytest.raises(OperatorError, match=r"target 3 at position 1 is out of range for 3"):
        vendor.op.CrossEntropyLoss(out, x, wrong, *rest)
    wrong = out_like(vendor, (3, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiCrossEntropyLoss\] the target has neither"):
        vendor.op.CrossEntropyLoss(out, x, wrong, *rest)
