"""Cross entropy of logits with class indices or probabilities as targets, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _shares(
    logits: Array, target: Array, weight: Any, ignore_index: int, smoothing: float
) -> tuple[Array, Array]:
    """Return the factors of log-probabilities [..., C], and the divisor of the mean."""
    count, number = logits.shape[-1], logits.dtype.type
    of = np.ones(count, logits.dtype) if weight is None else weight
    counted = np.ones((), bool)
    if target.dtype.kind in "iu":
        chosen = (target[..., None] == np.arange(count)).astype(logits.dtype)
        counted = target != ignore_index
        divisor = np.where(counted, (chosen * of).sum(axis=-1), 0)
    else:
        chosen = np.moveaxis(target, 1 if target.ndim > 1 else 0, -1)
        divisor = np.ones(chosen.shape[:-1], logits.dtype)
    mixed = chosen * (1 - number(smoothing)) + number(smoothing) / count
    return of * mixed * counted[..., None], divisor


def _logits(input: Array) -> tuple[Array, Array, Array]:
    """Return logits [..., C], log-probabilities, and the magnitudes of their terms."""
    x = np.moveaxis(input, 1 if input.ndim > 1 else 0, -1)
    most = x.max(axis=-1, keepdims=True)
    log = np.log(np.exp(x - most).sum(axis=-1, keepdims=True))
    return x, x - most - log, np.abs(x) + np.abs(most) + np.abs(log) + 1


def _divisor(divisor: Array, reduction: str) -> Any:
    return divisor.sum() if reduction == "mean" else 1


@reference("diopiCrossEntropyLoss")
def cross_entropy(
    *,
    input: Array,
    target: Array,
    weight: Any,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> dict[str, Any]:
    x, logs, sizes = _logits(input)
    shares, divisor = _shares(x, target, weight, ignore_index, label_smoothing)
    losses, size = -(shares * logs).sum(axis=-1), (np.abs(shares) * sizes).sum(axis=-1)
    if reduction == "none":
        return {"out": Expected(losses, 2 * x.shape[-1], size)}
    by = _divisor(divisor, reduction)
    return {"out": Expected(losses.sum() / by, 2 * x.shape[-1] + losses.size, size.sum() / by)}


@reference("diopiCrossEntropyLossBackward")
def cross_entropy_backward(
    *,
    grad_output: Array,
    input: Array,
    target: Array,
    weight: Any,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> dict[str, Any]:
    x, logs, sizes = _logits(input)
    shares, divisor = _shares(x, target, weight, ignore_index, label_smoothing)
    grad = grad_output[..., None] if reduction == "none" else grad_output
    slope = grad / _divisor(divisor, reduction)
    spread = np.exp(logs) * shares.sum(axis=-1, keepdims=True)
    dim = 1 if input.ndim > 1 else 0
    # The absolute error of a logarithm is the relative error of its probability.
    size = np.abs(slope) * (np.abs(spread) * sizes + np.abs(shares))
    length = 2 * x.shape[-1] + divisor.size
    value = np.moveaxis(slope * (spread - shares), -1, dim)
    return {"grad_input": Expected(value, length, np.moveaxis(size, -1, dim))}
