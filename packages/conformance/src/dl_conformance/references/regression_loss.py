"""Losses of regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def reduced(each: Array, size: Array, reduction: str) -> Expected:
    """Return the reduction of the loss of each element."""
    kind = reduction.lower().removeprefix("reduction")
    if kind == "none":
        return Expected(each, 4, size)
    divisor = max(each.size, 1) if kind == "mean" else 1
    return Expected(each.sum() / divisor, max(each.size, 4), np.asarray(size.sum() / divisor))


def share(count: int, reduction: str) -> Any:
    return np.longdouble(1) / count if reduction.lower().endswith("mean") else np.longdouble(1)


def numbers(values: Any) -> Any:
    """Convert integer or bool targets or weights to numbers."""
    return values if values is None else values + np.longdouble(0)


def slope(value: Array, size: Array) -> Expected:
    return Expected(value, 4, np.abs(size), op_class="reduction")


@reference("diopiMSELoss")
def mse(*, input: Array, target: Array, reduction: str) -> dict[str, Any]:
    each = (input - numbers(target)) ** 2
    return {"out": reduced(each, each, reduction)}


@reference("diopiMSELossBackward")
def mse_backward(
    *, grad_output: Array, input: Array, target: Array, reduction: str
) -> dict[str, Any]:
    target = numbers(target)
    scale = 2 * grad_output * share(input.size, reduction)
    size = np.abs(scale) * (np.abs(input) + np.abs(target))
    return {"grad_input": slope(scale * (input - target), size)}


@reference("diopiSmoothL1Loss")
def smooth_l1(*, input: Array, target: Array, reduction: str, beta: float) -> dict[str, Any]:
    far = np.abs(input - numbers(target))
    near = far * far / 2 / beta if beta else far
    each = np.where(far < beta, near, far - beta / 2)
    return {"out": reduced(each, far + beta, reduction)}


@reference("diopiSmoothL1LossBackward")
def smooth_l1_backward(
    *, grad_output: Array, input: Array, target: Array, reduction: str, beta: float
) -> dict[str, Any]:
    target = numbers(target)
    far = input - target
    inner = far / beta if beta else far
    value = np.where(np.abs(far) < beta, inner, np.sign(far))
    scale = grad_output * share(input.size, reduction)
    return {"grad_input": slope(scale * value, scale * (1 + np.abs(input) + np.abs(target)))}
