"""Smooth activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float, erfc, sigmoid, unary
from dl_conformance.reference import Array, Expected, reference

PI = np.longdouble("3.14159265358979323846264338327950288")


def _terms(value: Any, size: Any, length: int = 2) -> Expected:
    return Expected(value, length=length, magnitude=np.abs(size), op_class="reduction")


unary({"Tanh": lambda x: np.tanh(as_float(x)), "Sigmoid": lambda x: sigmoid(as_float(x))})


@reference("diopiTanhBackward")
def tanh_backward(*, grad_output: Array, output: Array) -> dict[str, Any]:
    value = grad_output * np.conj(1 - output * output)
    return {"grad_input": _terms(value, np.abs(grad_output) * (1 + np.abs(output) ** 2))}


@reference("diopiSigmoidBackward")
def sigmoid_backward(*, grad_output: Array, output: Array) -> dict[str, Any]:
    value = grad_output * np.conj((1 - output) * output)
    size = np.abs(grad_output) * np.abs(output) * (1 + np.abs(output))
    return {"grad_input": _terms(value, size)}


def _tanh_argument(x: Array) -> Array:
    return np.asarray(np.sqrt(2 / PI) * (x + np.longdouble("0.044715") * x**3))


@reference("diopiGelu")
def gelu(*, input: Array, approximate: str) -> dict[str, Any]:
    if approximate == "tanh":
        value = input * sigmoid(2 * _tanh_argument(input))
    else:
        value = input * erfc(-input / np.sqrt(np.longdouble(2))) / 2
    return {"out": _terms(value, input)}


@reference("diopiGeluBackward")
def gelu_backward(*, grad_output: Array, input: Array, approximate: str) -> dict[str, Any]:
    if approximate == "tanh":
        share = sigmoid(2 * _tanh_argument(input))
        inner = np.sqrt(2 / PI) * (1 + 3 * np.longdouble("0.044715") * input**2)
        slope = share + input * 2 * share * (1 - share) * inner
    else:
        density = np.exp(-input * input / 2) / np.sqrt(2 * PI)
        slope = erfc(-input / np.sqrt(np.longdouble(2))) / 2 + input * density
    size = np.abs(grad_output) * (1 + np.abs(input))
    return {"grad_input": _terms(grad_output * slope, size, 4)}


@reference("diopiSilu")
def silu(*, input: Array) -> dict[str, Any]:
    return {"out": input * sigmoid(input)}


@reference("diopiSiluBackward")
def silu_backward(*, grad_output: Array, input: Array) -> dict[str, Any]:
    share = sigmoid(input)
    value = grad_output * share * (1 + input * (1 - share))
    return {"grad_input": _terms(value, np.abs(grad_output) * (1 + np.abs(input)), 4)}


@reference("dlopElu")
def elu(*, input: Array, alpha: float, scale: float, input_scale: float) -> dict[str, Any]:
    low = scale * np.longdouble(alpha) * np.expm1(input_scale * input)
    return {"out": np.where(input >= 0, np.longdouble(scale) * input, low)}


@reference("dlopEluBackward")
def elu_backward(
    *,
    grad_output: Array,
    self_or_result: Array,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
) -> dict[str, Any]:
    wide = np.longdouble(scale)
    if is_result:
        low = input_scale * (self_or_result + np.longdouble(alpha) * wide)
        size = np.abs(input_scale) * (np.abs(self_or_result) + abs(alpha * scale))
    else:
        low = wide * alpha * input_scale * np.exp(input_scale * self_or_result)
        size = np.abs(low)
    slope = np.where(self_or_result > 0, wide, low)
    size = np.maximum(np.abs(slope), size)
    return {"grad_input": _terms(grad_output * slope, size * grad_output)}


@reference("dlopSoftplus")
def softplus(*, input: Array, beta: float, threshold: float) -> dict[str, Any]:
    soft = np.logaddexp(0, beta * input) / beta
    return {"out": np.where(beta * input > threshold, input, soft)}


@reference("dlopSoftplusBackward")
def softplus_backward(
    *, grad_output: Array, input: Array, beta: float, threshold: float
) -> dict[str, Any]:
    soft = grad_output * sigmoid(beta * input)
    return {"grad_input": np.where(beta * input > threshold, grad_output, soft)}


@reference("dlopMish")
def mish(*, input: Array) -> dict[str, Any]:
    return {"out": input * np.tanh(np.logaddexp(0, input))}


@reference("dlopMishBackward")
def mish_backward(*, grad_output: Array, input: Array) -> dict[str, Any]:
    soft = np.tanh(np.logaddexp(0, input))
    slope = soft + input * (1 - soft * soft) * sigmoid(input)
    size = np.abs(grad_output) * (1 + np.abs(input))
    return {"grad_input": _terms(grad_output * slope, size, 4)}


@reference("dlopLogSigmoid")
def log_sigmoid(*, input: Array) -> dict[str, Any]:
    return {"out": -np.logaddexp(0, -input), "buffer": np.exp(-np.abs(input))}


@reference("dlopLogSigmoidBackward")
def log_sigmoid_backward(*, grad_output: Array, input: Array, buffer: Array) -> dict[str, Any]:
    share = np.where(input < 0, 1, buffer) / (1 + buffer)
    return {"grad_input": _terms(grad_output * share, grad_output)}
