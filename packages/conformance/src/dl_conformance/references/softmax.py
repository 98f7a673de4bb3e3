"""Softmax, log-softmax and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _shifted(input: Array, dim: int) -> Array:
    return np.asarray(input - np.max(input, axis=dim, keepdims=True, initial=-np.inf))


@reference("diopiSoftmax")
def softmax(*, input: Array, dim: int) -> dict[str, Any]:
    shifted = _shifted(input, dim)
    value = np.exp(shifted) / np.sum(np.exp(shifted), axis=dim, keepdims=True)
    # Minus infinity has probability 0, without rounding.
    size = value * (1 + np.where(np.isneginf(shifted), 0, np.abs(shifted)))
    return {"out": Expected(value, input.shape[dim] if input.ndim else 1, size)}


@reference("diopiLogSoftmax")
def log_softmax(*, input: Array, dim: int) -> dict[str, Any]:
    shifted = _shifted(input, dim)
    log = np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))
    size = np.abs(shifted) + np.abs(input) + np.abs(log) + 1
    return {"out": Expected(shifted - log, input.shape[dim] if input.ndim else 1, size)}


@reference("diopiSoftmaxBackward")
def softmax_backward(*, grad_output: Array, output: Array, dim: int) -> dict[str, Any]:
    terms = grad_output * output
    value = output * (grad_output - np.sum(terms, axis=dim, keepdims=True))
    size = np.abs(output) * (np.abs(grad_output) + np.sum(np.abs(terms), axis=dim, keepdims=True))
    return {"grad_input": Expected(value, output.shape[dim] if output.ndim else 1, size)}


@reference("diopiLogSoftmaxBackward")
def log_softmax_backward(*, grad_output: Array, output: Array, dim: int) -> dict[str, Any]:
    share = np.exp(output)
    value = grad_output - share * np.sum(grad_output, axis=dim, keepdims=True)
    total = np.sum(np.abs(grad_output), axis=dim, keepdims=True)
    size = np.abs(grad_output) + share * (1 + np.abs(output)) * total
    return {"grad_input": Expected(value, output.shape[dim] if output.ndim else 1, size)}


def _hidden(mask: Array, shape: tuple[int, ...], fixed_triu_mask: bool) -> Array:
    above = np.triu(np.ones(shape, bool), 1)
    return np.asarray(above if fixed_triu_mask else np.broadcast_to(mask, shape) != 0)


@reference("diopiScaledMaskedSoftmax")
def scaled_masked_softmax(
    *, input: Array, mask: Array, scale: float, fixed_triu_mask: bool
) -> dict[str, Any]:
    hidden = _hidden(mask, input.shape, fixed_triu_mask)
    shifted = _shifted(np.where(hidden, -10000, np.longdouble(scale) * input), -1)
    powers = np.exp(shifted)
    value = powers / powers.sum(axis=-1, keepdims=True)
    # The scaled scores are rounded too, and the maximum is subtracted.
    size = value * (1 + np.abs(shifted) + 2 * np.abs(scale * input).max(axis=-1, keepdims=True))
    return {"output": Expected(value, input.shape[-1], size)}


@reference("diopiScaledMaskedSoftmaxBackward")
def scaled_masked_softmax_backward(
    *, grad_output: Array, output: Array, mask: Array, scale: float, fixed_triu_mask: bool
) -> dict[str, Any]:
    seen = ~_hidden(mask, output.shape, fixed_triu_mask)
    terms = grad_output * output
    value = scale * output * (grad_output - terms.sum(axis=-1, keepdims=True))
    total = np.abs(terms).sum(axis=-1, keepdims=True)
    size = np.abs(scale * output) * (np.abs(grad_output) + total)
    return {"grad_input": Expected(value * seen, output.shape[-1] + 1, size)}
