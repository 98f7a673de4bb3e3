"""References of focal losses, from the published formula, with derivatives by complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from referenced import Expected
from references import reference


def binary(x: Any, t: Any, alpha: float, gamma: float) -> Any:
    p = 1 / (1 + np.exp(-x))
    right = p * t + (1 - p) * (1 - t)
    weight = 1.0 if alpha < 0 else alpha * t + (1 - alpha) * (1 - t)
    return -weight * (1 - right) ** gamma * (t * np.log(p) + (1 - t) * np.log(1 - p))


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    """Of each element of a function of each element; the error is of the order of 1e-40."""
    return np.imag(function(x + 1e-20j)) / 1e-20


def judged(value: Any) -> Expected:
    return Expected(value, 64, np.abs(value) * 4 + 4)


@reference("diopiSigmoidFocalLoss")
def sigmoid_focal_loss(
    *, inputs: Any, targets: Any, alpha: float, gamma: float, reduction: str
) -> dict[str, Any]:
    losses = binary(inputs, targets, alpha, gamma)
    ways = {"none": lambda: losses, "mean": losses.mean, "sum": losses.sum}
    return {"out": Expected(np.asarray(ways[reduction]()), losses.size, np.abs(losses).sum() + 1)}


@reference("diopiSigmoidFocalLossBackward")
def sigmoid_focal_loss_backward(*, grad_output: Any, input: Any, target: Any, gamma: float,
                                alpha: float, reduction: str) -> dict[str, Any]:  # fmt: skip
    slopes = slope(lambda x: binary(x, target, alpha, gamma), input)
    scale = 1 / input.size if reduction == "mean" else 1.0
    return {"grad_input": judged(grad_output * slopes * scale)}


def by_class(x: Any, target: Any, weight: Any, gamma: float, alpha: float) -> Any:
    chosen = target[:, None] == np.arange(x.shape[1])
    p = 1 / (1 + np.exp(-x))
    losses = np.where(chosen, -alpha * (1 - p) ** gamma * np.log(p),
                      -(1 - alpha) * p**gamma * np.log(1 - p))  # fmt: skip
    return losses if weight is None else losses * weight_of(target, weight)[:, None]


def weight_of(target: Any, weight: Any) -> Any:
    known = (target >= 0) & (target < len(weight))
    return np.where(known, weight[np.where(known, target, 0)], 1)


@reference("diopiSigmoidFocalLossMmcv")
def class_focal(*, input: Any, target: Any, weight: Any, gamma: float,
                alpha: float) -> dict[str, Any]:  # fmt: skip
    return {"output": judged(by_class(input, target, weight, gamma, alpha))}


@reference("diopiSigmoidFocalLossBackwardMmcv")
def class_focal_backward(*, input: Any, target: Any, weight: Any, gamma: float,
                         alpha: float) -> dict[str, Any]:  # fmt: skip
    slopes = slope(lambda x: by_class(x, target, weight, gamma, alpha), input)
    return {"grad_input": judged(slopes)}


def of_probability(p: Any, target: Any, weight: Any, gamma: float, alpha: float) -> Any:
    losses = -alpha * (1 - p) ** gamma * np.log(p)
    losses = losses if weight is None else losses * weight_of(target, weight)
    return np.where(target < 0, 0, losses)


def chosen_of(softmax: Any, target: Any) -> Any:
    return softmax[np.arange(len(target)), np.maximum(target, 0)]


@reference("diopiSoftmaxFocalLossMmcv")
def softmax_focal(*, softmax: Any, target: Any, weight: Any, gamma: float,
                  alpha: float) -> dict[str, Any]:  # fmt: skip
    p = chosen_of(softmax, target)
    return {"output": judged(of_probability(p, target, weight, gamma, alpha))}


@reference("diopiSoftmaxFocalLossBackwardMmcv")
def softmax_focal_backward(*, buff: Any, softmax: Any, target: Any, weight: Any, gamma: float,
                           alpha: float) -> dict[str, Any]:  # fmt: skip
    """The derivative of a probability with respect to logit c is p (1 or 0 - its probability)."""
    p = chosen_of(softmax, target)
    by_p = slope(lambda p: of_probability(p, target, weight, gamma, alpha), p)
    one = target[:, None] == np.arange(softmax.shape[1])
    return {"grad_input": judged((by_p * p)[:, None] * (one - softmax))}
