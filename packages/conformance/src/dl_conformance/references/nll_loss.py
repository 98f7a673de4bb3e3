"""Negative log likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _weights(input: Array, target: Array, weight: Any, ignore_index: int) -> Array:
    classes = input.shape[1] if input.ndim > 1 else input.shape[0]
    each = np.ones(classes, input.dtype) if weight is None else weight
    kept = target != ignore_index
    return np.asarray(np.where(kept, each[np.where(kept, target, 0)], 0))


def _picked(input: Array, target: Array, ignore_index: int) -> tuple[Any, ...]:
    safe = np.where(target != ignore_index, target, 0)
    if input.ndim == 1:
        return (safe,)
    places = np.indices(target.shape)
    return (places[0], safe, *places[1:])


def _loss(input: Array, target: Array, weight: Any, reduction: str, ignore_index: int) -> Any:
    weights = _weights(input, target, weight, ignore_index)
    each = -weights * input[_picked(input, target, ignore_index)]
    if reduction.lower().endswith("none"):
        return Expected(each, 2, np.abs(each)), np.zeros(())
    total = weights.sum()
    divisor = total if reduction.lower().endswith("mean") else 1
    size = np.asarray(np.abs(each).sum() / np.abs(divisor))
    return Expected(each.sum() / divisor, target.size + 1, size), total


@reference("diopiNLLLoss")
def nll(
    *, input: Array, target: Array, weight: Any, reduction: str, ignore_index: int
) -> dict[str, Any]:
    return {"out": _loss(input, target, weight, reduction, ignore_index)[0]}


@reference("diopiNLLLossV2")
def nll_v2(
    *, input: Array, target: Array, weight: Any, reduction: str, ignore_index: int
) -> dict[str, Any]:
    loss, total = _loss(input, target, weight, reduction, ignore_index)
    size = np.abs(np.asarray(total))
    return {"out": loss, "totalWeight": Expected(total, target.size, size)}


@reference("diopiNLLLossBackward", "diopiNLLLossV2Backward")
def nll_backward(
    *,
    grad_output: Array,
    input: Array,
    target: Array,
    weight: Any,
    reduction: str,
    ignore_index: int,
    totalWeight: Any = None,  # noqa: N803
) -> dict[str, Any]:
    weights = _weights(input, target, weight, ignore_index)
    divisor = np.longdouble(1)
    if reduction.lower().endswith("mean"):
        divisor = weights.sum() if totalWeight is None else totalWeight
    value = np.zeros_like(input)
    value[_picked(input, target, ignore_index)] = -weights * grad_output / divisor
    return {"grad_input": Expected(value, target.size + 2, np.abs(value))}
