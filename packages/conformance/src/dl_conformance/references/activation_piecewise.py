"""Piecewise activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, Expected, reference


def _rounded(value: Any, size: Any) -> Expected:
    """Return a value with the error bound of a sum of two terms of magnitude ``size``."""
    return Expected(value, length=2, magnitude=np.abs(size), op_class="reduction")


@reference("diopiRelu")
def relu(*, input: Array) -> dict[str, Any]:
    return {"out": Expected(np.maximum(input, input.dtype.type(0)), either_zero=input == 0)}


@reference("dlopHardsigmoid")
def hardsigmoid(*, input: Array) -> dict[str, Any]:
    value = np.minimum(np.maximum(input + 3, 0), 6) / 6
    return {"out": _rounded(value, np.ones(input.shape))}


@reference("dlopHardsigmoidBackward")
def hardsigmoid_backward(*, grad_output: Array, input: Array) -> dict[str, Any]:
    inside = (input > -3) & (input < 3)
    value = np.where(inside, grad_output / 6, 0)
    return {"grad_input": _rounded(value, value)}


@reference("diopiHardswish")
def hardswish(*, input: Array) -> dict[str, Any]:
    value = input * np.minimum(np.maximum(input + 3, 0), 6) / 6
    return {"out": _rounded(value, input)}


@reference("diopiHardswishBackward")
def hardswish_backward(*, grad_output: Array, input: Array) -> dict[str, Any]:
    inner = np.where(input >= 3, 1, input / 3 + np.longdouble(0.5))
    slope = np.where(input <= -3, 0, inner)
    return {"grad_input": _rounded(grad_output * slope, 2 * grad_output)}


@reference("diopiHardtanh")
def hardtanh(*, input: Array, min_val: Any, max_val: Any) -> dict[str, Any]:
    low, high = as_dtype_of(input, min_val), as_dtype_of(input, max_val)
    tied = (input == 0) & ((low == 0) | (high == 0))
    return {"out": Expected(np.minimum(np.maximum(input, low), high), either_zero=tied)}


@reference("diopiHardtanhBackward")
def hardtanh_backward(
    *, grad_output: Array, input: Array, min_val: Any, max_val: Any
) -> dict[str, Any]:
    return {"grad_input": np.where((input > min_val) & (input < max_val), grad_output, 0)}


@reference("diopiThreshold")
def threshold(*, input: Array, threshold: Any, value: Any) -> dict[str, Any]:
    kept = (input > as_dtype_of(input, threshold)) | (input != input)
    return {"out": np.where(kept, input, as_dtype_of(input, value))}


@reference("diopiThresholdBackward")
def threshold_backward(*, grad_output: Array, input: Array, threshold: Any) -> dict[str, Any]:
    kept = input > as_dtype_of(input, threshold)
    return {"grad_input": np.where(kept, grad_output, grad_output.dtype.type(0))}


@reference("diopiLeakyRelu")
def leaky_relu(*, input: Array, negative_slope: Any) -> dict[str, Any]:
    return {"out": np.where(input > 0, input, as_dtype_of(input, negative_slope) * input)}


@reference("diopiLeakyReluBackward")
def leaky_relu_backward(
    *, grad_output: Array, input: Array, negative_slope: Any, input_is_result: bool
) -> dict[str, Any]:
    scaled = as_dtype_of(input, negative_slope) * grad_output
    return {"grad_input": np.where(input > 0, grad_output, scaled)}


@reference("dlopHardshrink")
def hardshrink(*, input: Array, bound: float) -> dict[str, Any]:
    return {"out": np.where((input >= -bound) & (input <= bound), 0, input)}


@reference("dlopSoftshrink")
def softshrink(*, input: Array, bound: float) -> dict[str, Any]:
    inner = np.where(input < -bound, input + bound, np.where(input != input, input, 0))
    return {"out": np.where(input > bound, input - bound, inner)}


@reference("dlopShrinkBackward")
def shrink_backward(*, grad_output: Array, input: Array, bound: float) -> dict[str, Any]:
    return {"grad_input": np.where((input > bound) | (input < -bound), grad_output, 0)}


@reference("diopiFusedBiasLeakyreluMmcv")
def fused_bias_leaky_relu(
    *, input: Array, bias: Any, refer: Any, act: int, grad: int, alpha: float, scale: float
) -> dict[str, Any]:
    """Source: Karras et al., Analyzing and improving the image quality of StyleGAN, 2020."""
    if grad == 2:
        return {"out": np.zeros_like(input)}
    value, size = input, np.abs(input)
    if bias is not None and bias.size:
        added = bias.reshape(-1, *(1 for _ in input.shape[2:]))
        value, size = value + added, size + np.abs(added)
    side = refer if act == 3 and grad == 1 else value
    slope = np.where((side > 0) | (act == 1), 1, np.float32(alpha)).astype(np.longdouble)
    # A sum of two terms, multiplied by two rounded factors.
    factor = slope * np.float32(scale)
    return {"out": Expected(value * factor, 2, np.abs(size * factor), op_class="reduction")}
