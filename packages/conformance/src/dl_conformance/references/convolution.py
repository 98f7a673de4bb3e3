"""Convolutions over two and three dimensions, transposed ones, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Geometry:
    """Geometry of a convolution: the elements that each kernel tap reads."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes

    @classmethod
    def of(cls, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes) -> Geometry:
        dims = weight.ndim - 2
        each = (x * dims if len(x) == 1 else x for x in (stride, padding, dilation))
        return cls(weight.shape[2:], *each)

    def outputs(self, sizes: Sizes) -> Sizes:
        each = zip(sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in each)

    def taps(self, outputs: Sizes) -> Iterator[tuple[Sizes, tuple[slice, ...]]]:
        """Yield each kernel tap and the padded cells that it reads."""
        for tap in np.ndindex(*self.kernel):
            each = zip(tap, self.dilation, self.stride, outputs, strict=True)
            starts = ((t * d, s, n) for t, d, s, n in each)
            yield tap, tuple(slice(first, first + s * (n - 1) + 1, s) for first, s, n in starts)

    def padded(self, sizes: Sizes) -> Sizes:
        return tuple(n + 2 * p for n, p in zip(sizes, self.padding, strict=True))

    def inside(self, sizes: Sizes) -> tuple[slice, ...]:
        return tuple(slice(p, p + n) for n, p in zip(sizes, self.padding, strict=True))


def forward(input: Array, weight: Array, geometry: Geometry, groups: int) -> Array:
    sizes = input.shape[2:]
    outputs = geometry.outputs(sizes)
    padded = np.zeros((*input.shape[:2], *geometry.padded(sizes)), input.dtype)
    padded[(slice(None), slice(None), *geometry.inside(sizes))] = input
    result = np.zeros((input.shape[0], weight.shape[0], *outputs), input.dtype)
    for tap, cells in geometry.taps(outputs):
        met = padded[(slice(None), slice(None), *cells)]
        for group in range(groups):
            ins, outs = _parts(weight.shape[1], group), _parts(weight.shape[0] // groups, group)
            kernel = weight[_at(outs, tap)]
            result[:, outs] += np.einsum("nc...,kc->nk...", met[:, ins], kernel, optimize=True)
    return result


def gradient_of_input(
    grad: Array, weight: Array, sizes: Sizes, geometry: Geometry, groups: int
) -> Array:
    channels = weight.shape[1] * groups
    padded = np.zeros((grad.shape[0], channels, *geometry.padded(sizes)), grad.dtype)
    for tap, cells in geometry.taps(grad.shape[2:]):
        for group in range(groups):
            ins, outs = _parts(weight.shape[1], group), _parts(weight.shape[0] // groups, group)
            kernel = weight[_at(outs, tap)]
            terms = np.einsum("nk...,kc->nc...", grad[:, outs], kernel, optimize=True)
            padded[(slice(None), ins, *cells)] += terms
    return padded[(slice(None), slice(None), *geometry.inside(sizes))]


def gradient_of_weight(
    grad: Array, input: Array, shape: Sizes, geometry: Geometry, groups: int
) -> Array:
    sizes = input.shape[2:]
    padded = np.zeros((*input.shape[:2], *geometry.padded(sizes)), input.dtype)
    padded[(slice(None), slice(None), *geometry.inside(sizes))] = input
    result = np.zeros(shape, grad.dtype)
    for tap, cells in geometry.taps(grad.shape[2:]):
        met = padded[(slice(None), slice(None), *cells)]
        for group in range(groups):
            ins, outs = _parts(shape[1], group), _parts(shape[0] // groups, group)
            both = (x.reshape(*x.shape[:2], -1) for x in (grad[:, outs], met[:, ins]))
            result[_at(outs, tap)] += np.einsum("nkl,ncl->kc", *both, optimize=True)
    return result


def _at(outs: slice, tap: Sizes) -> tuple[Any, ...]:
    """Return one tap of the kernels of some output channels."""
    return (outs, slice(None), *tap)


def _parts(size: int, group: int) -> slice:
    return slice(group * size, (group + 1) * size)


def _bias(values: Any, like: Array) -> Any:
    return 0 if values is None else values.reshape(1, -1, *(1 for _ in like.shape[2:]))


@reference("diopiConvolution2d", "diopiConvolution3d")
def convolution(
    *,
    input: Array,
    weight: Array,
    bias: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> dict[str, Any]:
    geometry = Geometry.of(weight, stride, padding, dilation)
    size = forward(np.abs(input), np.abs(weight), geometry, groups)
    value = forward(input, weight, geometry, groups) + _bias(bias, input)
    length = int(np.prod(weight.shape[1:])) + 1
    return {"out": Expected(value, length, size + np.abs(_bias(bias, input)))}


@reference("diopiConvolution2dBackward", "diopiConvolution3dBackward")
def convolution_backward(
    *,
    grad_output: Array,
    input: Array,
    weight: Array,
    bias_sizes: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> dict[str, Any]:
    geometry = Geometry.of(weight, stride, padding, dilation)
    sizes, taps = input.shape[2:], int(np.prod(weight.shape[2:]))
    grads = (grad_output, np.abs(grad_output))
    weights, inputs = (weight, np.abs(weight)), (input, np.abs(input))
    to_input = [
        gradient_of_input(g, w, sizes, geometry, groups)
        for g, w in zip(grads, weights, strict=True)
    ]
    to_weight = [
        gradient_of_weight(g, x, weight.shape, geometry, groups)
        for g, x in zip(grads, inputs, strict=True)
    ]
    return {
        "grad_input": Expected(to_input[0], taps * weight.shape[0] // groups, to_input[1]),
        "grad_weight": Expected(
            to_weight[0], grad_output.size // grad_output.shape[1], to_weight[1]
        ),
        "grad_bias": _bias_gradient(grad_output) if bias_sizes is not None else None,
    }


def _bias_gradient(grad: Array) -> Expected:
    axes = (0, *range(2, grad.ndim))
    count = grad.size // grad.shape[1]
    return Expected(grad.sum(axis=axes), count, np.abs(grad).sum(axis=axes))


@reference("diopiConvTranspose2d", "diopiConvTranspose3d")
def transposed_convolution(
    *,
    input: Array,
    weight: Array,
    bias: Any,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int,
    dilation: Sizes,
) -> dict[str, Any]:
    geometry = Geometry.of(weight, stride, padding, dilation)
    each = zip(
        input.shape[2:],
        geometry.kernel,
        geometry.stride,
        geometry.padding,
        geometry.dilation,
        output_padding,
        strict=True,
    )
    sizes = tuple((n - 1) * s - 2 * p + d * (k - 1) + 1 + more for n, k, s, p, d, more in each)
    value = gradient_of_input(input, weight, sizes, geometry, groups) + _bias(bias, input)
    size = gradient_of_input(np.abs(input), np.abs(weight), sizes, geometry, groups)
    length = int(np.prod(weight.shape[2:])) * weight.shape[0] // groups + 1
    return {"out": Expected(value, length, size + np.abs(_bias(bias, input)))}


@reference("diopiConvTranspose2dBackward", "diopiConvTranspose3dBackward")
def transposed_convolution_backward(
    *,
    grad_output: Array,
    input: Array,
    weight: Array,
    bias_sizes: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    output_padding: Sizes,
    groups: int,
) -> dict[str, Any]:
    """Return the second-order gradient: a convolution with input and gradient swapped."""
    geometry = Geometry.of(weight, stride, padding, dilation)
    inside = tuple(slice(0, n) for n in input.shape[2:])
    at = (slice(None), slice(None), *inside)
    to_input = [
        forward(g, w, geometry, groups)[at]
        for g, w in ((grad_output, weight), (np.abs(grad_output), np.abs(weight)))
    ]
    to_weight = [
        gradient_of_weight(x, g, weight.shape, geometry, groups)
        for x, g in ((input, grad_output), (np.abs(input), np.abs(grad_output)))
    ]
    return {
        "grad_input": Expected(to_input[0], int(np.prod(weight.shape[1:])), to_input[1]),
        "grad_weight": Expected(to_weight[0], input.size // input.shape[1], to_weight[1]),
        "grad_bias": _bias_gradient(grad_output) if bias_sizes is not None else None,
    }
