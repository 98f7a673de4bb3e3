"""Focal losses of logits and of probabilities, with complex-step derivatives.

Sources: Lin et al., Focal loss for dense object detection, 2017; Squire and Trapp, Using complex
variables to estimate derivatives of real functions, SIAM Review 40 (1998).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference

LOSS = 10
"""Roundings of one loss: two sigmoids, their logarithm and power, sums and products."""


def _slope(function: Callable[[Any], Any], x: Array) -> Array:
    """Return the derivative of each element, with an error of about 1e-40."""
    return np.asarray(np.imag(function(x + 1e-20j)) / np.longdouble(1e-20))


def _binary(x: Any, t: Array, alpha: Any, gamma: Any) -> Any:
    p = 1 / (1 + np.exp(-x))
    right = p * t + (1 - p) * (1 - t)
    weight = 1.0 if alpha < 0 else alpha * t + (1 - alpha) * (1 - t)
    return -weight * (1 - right) ** gamma * (t * np.log(p) + (1 - t) * np.log(1 - p))


@reference("diopiSigmoidFocalLoss")
def sigmoid_focal_loss(
    *, inputs: Array, targets: Array, alpha: float, gamma: float, reduction: str
) -> dict[str, Any]:
    losses = _binary(inputs, targets, np.float32(alpha), np.float32(gamma))
    if reduction == "none":
        return {"out": Expected(losses, LOSS, np.abs(losses))}
    by = losses.size if reduction == "mean" else 1
    length = LOSS + losses.size
    return {"out": Expected(losses.sum() / by, length, np.abs(losses).sum() / by)}


@reference("diopiSigmoidFocalLossBackward")
def sigmoid_focal_loss_backward(
    *, grad_output: Array, input: Array, target: Array, gamma: float, alpha: float, reduction: str
) -> dict[str, Any]:
    slopes = _slope(lambda x: _binary(x, target, np.float32(alpha), np.float32(gamma)), input)
    scale = 1 / np.longdouble(input.size) if reduction == "mean" else 1
    value = grad_output * slopes * scale
    # Additionally, a sum of three terms, and two products.
    return {"grad_input": Expected(value, LOSS + 5, np.abs(value), op_class="reduction")}


def _weight_of(target: Array, weight: Array) -> Array:
    known = (target >= 0) & (target < len(weight))
    return np.asarray(np.where(known, weight[np.where(known, target, 0)], 1))


def _by_class(x: Any, target: Array, weight: Any, gamma: Any, alpha: Any) -> Any:
    chosen = target[:, None] == np.arange(x.shape[1])
    p = 1 / (1 + np.exp(-x))
    yes, no = -alpha * (1 - p) ** gamma * np.log(p), -(1 - alpha) * p**gamma * np.log(1 - p)
    losses = np.where(chosen, yes, no)
    return losses if weight is None else losses * _weight_of(target, weight)[:, None]


@reference("diopiSigmoidFocalLossMmcv")
def class_focal_loss(
    *, input: Array, target: Array, weight: Any, gamma: float, alpha: float
) -> dict[str, Any]:
    return {"output": _by_class(input, target, weight, np.float32(gamma), np.float32(alpha))}


@reference("diopiSigmoidFocalLossBackwardMmcv")
def class_focal_loss_backward(
    *, input: Array, target: Array, weight: Any, gamma: float, alpha: float
) -> dict[str, Any]:
    rest = (target, weight, np.float32(gamma), np.float32(alpha))
    return {"grad_input": _slope(lambda x: _by_class(x, *rest), input)}


def _of_probability(p: Any, target: Array, weight: Any, gamma: float, alpha: float) -> Any:
    losses = -np.float32(alpha) * (1 - p) ** np.float32(gamma) * np.log(p)
    losses = losses if weight is None else losses * _weight_of(target, weight)
    return np.where(target < 0, 0, losses)


def _chosen(softmax: Array, target: Array) -> Array:
    return np.asarray(softmax[np.arange(len(target)), np.maximum(target, 0)])


@reference("diopiSoftmaxFocalLossMmcv")
def softmax_focal_loss(
    *, softmax: Array, target: Array, weight: Any, gamma: float, alpha: float
) -> dict[str, Any]:
    p = _chosen(softmax, target)
    return {"output": _of_probability(p, target, weight, gamma, alpha)}


@reference("diopiSoftmaxFocalLossBackwardMmcv")
def softmax_focal_loss_backward(
    *, buff: Array, softmax: Array, target: Array, weight: Any, gamma: float, alpha: float
) -> dict[str, Any]:
    """Return gradients; d p_t / d logit_c is p_t (δ_tc - p_c)."""
    p = _chosen(softmax, target)
    by_p = _slope(lambda p: _of_probability(p, target, weight, gamma, alpha), p) * p
    one = target[:, None] == np.arange(softmax.shape[1])
    return {"grad_input": by_p[:, None] * (one - softmax), "buff": UNSPECIFIED}
