"""Attention at learned positions of feature maps of several sizes, and its gradients.

Source: Zhu et al., Deformable DETR: Deformable transformers for end-to-end object detection, 2021.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.sampling import Sampled, Weights, slopes, tents, weights


@dataclass(frozen=True)
class Point:
    """A sample: start of its plane in the values, shape of the plane, and position in the plane."""

    at: tuple[int, ...]
    start: int
    shape: tuple[int, int]
    y: Any
    x: Any
    of_y: Any
    of_x: Any

    @property
    def cells(self) -> slice:
        return slice(self.start, self.start + self.shape[0] * self.shape[1])

    def planes(self, value: Array) -> Array:
        """Return the plane [D, H, W] of the values [N, S, heads, D]."""
        taken = value[self.at[0], self.cells, self.at[2]]
        return np.moveaxis(taken.reshape(*self.shape, -1), 2, 0)

    def weights(self, share: Any) -> Weights:
        return weights(self.y, self.x, self.shape, self.of_y, self.of_x, share)


def _points(shapes: Array, starts: Array, places: Array) -> Iterator[Point]:
    for at in np.ndindex(places.shape[:-1]):
        (x, y), level = places[at], at[3]
        h, w = (int(n) for n in shapes[level])
        sizes = np.abs(y) * h + 1, np.abs(x) * w + 1
        yield Point(at, int(starts[level]), (h, w), y * h - 0.5, x * w - 0.5, *sizes)


@reference("diopiMsDeformAttnMmcv")
def attention(
    *,
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    im2col_step: int,
) -> dict[str, Any]:
    queries, heads = sampling_loc.shape[1:3]
    out = Sampled((len(value), queries, heads, value.shape[3]))
    for point in _points(spatial_shapes, level_start_index, sampling_loc):
        out.take(point.at[:3], point.planes(value), point.weights(attn_weight[point.at]))
    shape = (len(value), queries, -1)
    value, count, size = (x.reshape(shape) for x in (out.value, out.count, out.size))
    return {"out": Expected(value, count, size)}


@reference("diopiMsDeformAttnBackwardMmcv")
def attention_backward(
    *,
    grad_value: Array,
    grad_sampling_loc: Array,
    grad_attn_weight: Array,
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    grad_output: Array,
    im2col_step: int,
) -> dict[str, Any]:
    heads = value.shape[2]
    grads = grad_output.reshape(*grad_output.shape[:2], heads, -1)
    to_value = Sampled(value.shape, grad_value)
    to_weight = Sampled(attn_weight.shape, grad_attn_weight)
    to_place = Sampled(sampling_loc.shape, grad_sampling_loc)
    for point in _points(spatial_shapes, level_start_index, sampling_loc):
        grad, share = grads[point.at[:3]], attn_weight[point.at]
        taken = point.weights(share)
        at = (point.at[0], point.cells, point.at[2])
        to_value.value[at] += np.multiply.outer(taken.value, grad).reshape(-1, len(grad))
        to_value.size[at] += np.multiply.outer(taken.size, np.abs(grad)).reshape(-1, len(grad))
        to_value.count[at] += 1
        planes = point.planes(value)
        # A sum over the features, of samples and of their derivatives.
        along = np.einsum("d,dhw->hw", grad, planes)
        sizes = np.einsum("d,dhw->hw", np.abs(grad), np.abs(planes))
        one = point.weights(1)
        _add(to_weight, point.at, along, sizes, one, len(grad))
        h, w = point.shape
        rows, columns = tents(point.y, h), tents(point.x, w)
        for axis, (high, wide, scale, other) in enumerate(
            (
                (rows, slopes(point.x, w), w, point.of_y + np.abs(point.y)),
                (slopes(point.y, h), columns, h, point.of_x + np.abs(point.x)),
            )
        ):
            value_of = np.outer(high, wide) * share * scale
            near = (np.abs(point.y - np.arange(h)) < 1, np.abs(point.x - np.arange(w)) < 1)
            size_of = np.abs(value_of) + np.outer(*near) * np.abs(share) * scale * other
            _add(to_place, (*point.at, axis), along, sizes, Weights(value_of, size_of), len(grad))
    return {
        "grad_value": to_value.expected(),
        "grad_sampling_loc": to_place.expected(),
        "grad_attn_weight": to_weight.expected(),
    }


def _add(
    total: Sampled, at: tuple[int, ...], along: Array, sizes: Array, taken: Weights, features: int
) -> None:
    total.value[at] += np.sum(along * taken.value)
    total.size[at] += np.sum(sizes * taken.size)
    total.count[at] += 4 * features
