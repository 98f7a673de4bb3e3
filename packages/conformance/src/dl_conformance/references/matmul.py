"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _product(left: Array, right: Array) -> Expected:
    size = np.asarray(np.matmul(np.abs(left), np.abs(right)))
    return Expected(np.asarray(np.matmul(left, right)), left.shape[-1], size)


def _scaled(input: Array, left: Array, right: Array, beta: Any, alpha: Any) -> dict[str, Any]:
    product, scale = np.asarray(np.matmul(left, right)), np.longdouble(alpha)
    size = np.asarray(np.matmul(np.abs(left), np.abs(right)))
    start = 0 if beta == 0 else np.longdouble(beta) * input
    magnitude = np.asarray(np.abs(scale) * size + np.abs(start))
    return {"out": Expected(scale * product + start, left.shape[-1] + 1, magnitude)}


@reference("diopiMm", "diopiBmm")
def mm(*, input: Array, mat2: Array) -> dict[str, Any]:
    return {"out": _product(input, mat2)}


@reference("diopiMatmul")
def matmul(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": _product(input, other)}


@reference("diopiAddmm")
def addmm(*, input: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> dict[str, Any]:
    return _scaled(input, mat1, mat2, beta, alpha)


@reference("diopiBaddbmm")
def baddbmm(*, input: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> dict[str, Any]:
    return _scaled(input, batch1, batch2, beta, alpha)


@reference("diopiLinear")
def linear(*, input: Array, weight: Array, bias: Any) -> dict[str, Any]:
    shift = 0 if bias is None else bias
    size = np.abs(input) @ np.abs(weight.T) + np.abs(shift)
    return {"out": Expected(input @ weight.T + shift, weight.shape[1] + 1, size)}


@reference("diopiLinearBackward")
def linear_backward(*, grad_output: Array, input: Array, weight: Array) -> dict[str, Any]:
    outputs, inputs = weight.shape
    grad, rows = grad_output.reshape(-1, outputs), input.reshape(-1, inputs)
    to_input = (grad_output @ weight, outputs, np.abs(grad_output) @ np.abs(weight))
    to_weight = (grad.T @ rows, len(rows), np.abs(grad).T @ np.abs(rows))
    return {
        "grad_input": Expected(*to_input),
        "grad_weight": Expected(*to_weight),
        "grad_bias": Expected(grad.sum(axis=0), len(rows), np.abs(grad).sum(axis=0)),
    }


@reference("diopiMatmulBackward")
def matmul_backward(*, grad_out: Array, input: Array, other: Array) -> dict[str, Any]:
    """Return the gradients G · Bᴴ and Aᴴ · G of a real function of `out`."""
    left = input[None, :] if input.ndim == 1 else input
    right = other[:, None] if other.ndim == 1 else other
    matrix_dims = (input.ndim > 1) + (other.ndim > 1)
    batch = grad_out.shape[: grad_out.ndim - matrix_dims]
    grad = grad_out.reshape(*batch, left.shape[-2], right.shape[-1])
    to_left = _summed(grad, np.conj(np.swapaxes(right, -1, -2)), left.shape)
    to_right = _summed(np.conj(np.swapaxes(left, -1, -2)), grad, right.shape)
    return {
        "grad_input": _shaped(to_left, input.shape),
        "grad_other": _shaped(to_right, other.shape),
    }


def _summed(left: Array, right: Array, shape: tuple[int, ...]) -> Expected:
    """Return a product, summed over the dimensions along which the shape broadcasts."""
    value = np.asarray(np.matmul(left, right))
    size = np.asarray(np.matmul(np.abs(left), np.abs(right)))
    missing = value.ndim - len(shape)
    axes = tuple(
        d for d in range(value.ndim) if d < missing or shape[d - missing] != value.shape[d]
    )
    length = left.shape[-1] * int(np.prod([value.shape[d] for d in axes]))
    return Expected(value.sum(axis=axes), length, size.sum(axis=axes))


def _shaped(found: Expected, shape: tuple[int, ...]) -> Expected:
    value, size = np.asarray(found.value), np.asarray(found.magnitude)
    return Expected(value.reshape(shape), found.length, size.reshape(shape))


@reference("diopiMatmulAllReduce")
def matmul_all_reduce(*, x1: Array, x2: Array, bias: Any, **settings: Any) -> dict[str, Any]:
    """Return the result for a single process, which is the product itself."""
    shift = 0 if bias is None else bias
    size = np.abs(x1) @ np.abs(x2) + np.abs(shift)
    return {"out": Expected(x1 @ x2 + shift, x1.shape[-1] + 1, size)}
