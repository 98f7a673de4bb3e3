"""Binary cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import sigmoid
from dl_conformance.reference import Array, Expected, reference
from dl_conformance.references.regression_loss import numbers, reduced, share


@reference("diopiBCEWithLogits")
def with_logits(
    *, input: Array, target: Array, weight: Any, pos_weight: Any, reduction: str
) -> dict[str, Any]:
    target, weight, pos_weight = numbers(target), numbers(weight), numbers(pos_weight)
    scale = 1 if weight is None else weight
    positive = 1 if pos_weight is None else pos_weight
    low, high = np.logaddexp(0, -input), np.logaddexp(0, input)
    each = scale * (positive * target * low + (1 - target) * high)
    size = (
        np.abs(scale) * (np.abs(input) + low + high) * (1 + np.abs(positive)) * (1 + np.abs(target))
    )
    return {"out": reduced(each, size + np.zeros(input.shape), reduction)}


@reference("diopiBCEWithLogitsBackward")
def with_logits_backward(
    *, grad_output: Array, input: Array, target: Array, weight: Any, pos_weight: Any, reduction: str
) -> dict[str, Any]:
    target, weight, pos_weight = numbers(target), numbers(weight), numbers(pos_weight)
    scale = (1 if weight is None else weight) * grad_output * share(input.size, reduction)
    positive = 1 if pos_weight is None else pos_weight
    chance = sigmoid(input)
    value = scale * ((1 - target) * chance - positive * target * (1 - chance))
    size = np.abs(scale) * (1 + np.abs(positive)) * (1 + np.abs(target)) + np.zeros(input.shape)
    return {"grad_input": Expected(value, 8, size, op_class="reduction")}


@reference("diopiBCELoss")
def loss(*, input: Array, target: Array, weight: Any, reduction: str) -> dict[str, Any]:
    target, weight = numbers(target), numbers(weight)
    scale = 1 if weight is None else weight
    logs = [np.maximum(np.log(x), -100) for x in (input, 1 - input)]
    each = -scale * (target * logs[0] + (1 - target) * logs[1])
    size = np.abs(scale) * (np.abs(target * logs[0]) + np.abs((1 - target) * logs[1]) + 1)
    return {"out": reduced(each, size, reduction)}


@reference("diopiBCELossBackward")
def loss_backward(
    *, grad_output: Array, input: Array, target: Array, weight: Any, reduction: str
) -> dict[str, Any]:
    target, weight = numbers(target), numbers(weight)
    scale = (1 if weight is None else weight) * grad_output * share(input.size, reduction)
    divisor = np.maximum(input * (1 - input), np.longdouble("1e-12"))
    size = np.abs(scale) * (np.abs(input) + np.abs(target)) / divisor
    return {
        "grad_input": Expected(scale * (input - target) / divisor, 8, size, op_class="reduction")
    }
