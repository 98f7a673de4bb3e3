"""Convolutions at learned positions, with and without masks, and their gradients.

Sources: Dai et al., Deformable convolutional networks, 2017; Zhu et al., Deformable ConvNets v2:
More deformable, better results, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference
from dl_conformance.sampling import POSITION

# Indices in einsum: n samples, g deformable groups, c channels of a deformable group, t kernel
# taps, p output positions, h and w cells, m convolution groups, k filters of a group, d channels of
# a group.


@dataclass(frozen=True)
class Lines:
    """Interpolation weights along one axis for each sample, [n, g, t, p, cells].

    :ivar value: linear interpolation weight of the cell.
    :ivar size: effect of an error of the position, which is relative to its terms.
    :ivar slope: right derivative with respect to the position.
    """

    value: Array
    size: Array
    slope: Array

    @classmethod
    def of(cls, at: Array, terms: Array, cells: int) -> Lines:
        at, terms, line = at[..., None], terms[..., None], np.arange(cells)
        away = np.abs(at - line)
        inside = (at > -1) & (at < cells)
        low = np.floor(at)
        slope = np.where(line == low, -1, np.where(line == low + 1, 1, 0)) * inside
        size = (away < 1) * (np.abs(at) + terms)
        return cls(np.maximum(0, 1 - away), size, slope.astype(np.longdouble))

    @property
    def near(self) -> Array:
        return (self.value > 0).astype(np.longdouble)


@dataclass(frozen=True)
class Axis:
    """Convolution arguments of one axis."""

    kernel: int
    stride: int
    padding: int
    dilation: int


class Samples:
    """Samples of a call."""

    def __init__(
        self,
        input: Array,
        offset: Array,
        mask: Array | None,
        axes: tuple[Axis, Axis],
        groups: int,
        deformable_groups: int,
    ) -> None:
        n, channels, *plane = input.shape
        self.groups, self.outputs = groups, offset.shape[2:]
        self.window = (axes[0].kernel, axes[1].kernel)
        positions, window = int(np.prod(self.outputs)), int(np.prod(self.window))
        self.shape = (n, deformable_groups, window, positions)
        self.input = input.reshape(n, deformable_groups, channels // deformable_groups, *plane)
        self.channels = channels
        moved = offset.reshape(n, deformable_groups, window, 2, positions)
        self.mask = np.ones(self.shape, np.longdouble) if mask is None else mask.reshape(self.shape)
        lines = []
        for k, axis in enumerate(axes):
            tap = np.indices(self.window)[k].reshape(-1, 1) * axis.dilation
            place = np.indices(self.outputs)[k].reshape(1, -1) * axis.stride - axis.padding
            move = moved[:, :, :, k]
            lines.append(Lines.of(tap + place + move, np.abs(tap + place) + np.abs(move), plane[k]))
        self.rows, self.columns = lines

    def _interpolate(self, input: Array, rows: Array, columns: Array) -> Array:
        met = np.einsum("ngchw,ngtph->ngctpw", input, rows, optimize=True)
        return np.asarray(np.einsum("ngctpw,ngtpw->ngctp", met, columns, optimize=True))

    def values(self) -> tuple[Array, Array]:
        """Return the samples without masks, [n, g, c, t, p], and the magnitudes of their terms."""
        rows, columns, plane = self.rows, self.columns, np.abs(self.input)
        size = self._interpolate(plane, rows.value + rows.size, columns.value)
        size += self._interpolate(plane, rows.value, columns.size)
        return self._interpolate(self.input, rows.value, columns.value), size

    def slopes(self) -> list[tuple[Array, Array]]:
        """Return the derivatives by y and by x, with the magnitudes of their terms."""
        rows, columns, plane = self.rows, self.columns, np.abs(self.input)
        return [
            (
                self._interpolate(self.input, rows.slope, columns.value),
                self._interpolate(plane, np.abs(rows.slope), columns.value + columns.size),
            ),
            (
                self._interpolate(self.input, rows.value, columns.slope),
                self._interpolate(plane, rows.value + rows.size, np.abs(columns.slope)),
            ),
        ]

    def as_columns(self, values: Array) -> Array:
        """Regroup values [n, g, c, t, p] to [n, m, d, t, p]."""
        n, _, window, positions = self.shape
        return values.reshape(n, self.groups, self.channels // self.groups, window, positions)

    def filters(self, weight: Array) -> Array:
        """Reshape the weights to [m, k, d, t]."""
        count = len(weight) // self.groups
        return weight.reshape(self.groups, count, weight.shape[1], self.shape[2])

    def grads(self, grad: Array) -> Array:
        """Reshape the output's gradient to [n, m, k, p]."""
        n, count = self.shape[0], grad.shape[1] // self.groups
        return grad.reshape(n, self.groups, count, self.shape[3])

    def sample_gradients(self, weight: Array, grad: Array) -> Array:
        """Return the gradients of the masked samples, [n, g, c, t, p]."""
        n, deformable, window, positions = self.shape
        found = np.einsum("mkdt,nmkp->nmdtp", self.filters(weight), self.grads(grad), optimize=True)
        return np.asarray(found).reshape(n, deformable, self.input.shape[2], window, positions)


def _output(samples: Samples, weight: Array, bias: Any) -> Expected:
    window = samples.shape[2]
    shape = (samples.shape[0], weight.shape[0], *samples.outputs)
    by = samples.filters(weight)
    value, size = samples.values()
    shares = samples.mask[:, :, None]
    found = [
        np.einsum("mkdt,nmdtp->nmkp", w, samples.as_columns(v), optimize=True).reshape(shape)
        for w, v in ((by, value * shares), (np.abs(by), size * np.abs(shares)))
    ]
    if bias is not None:
        found = [found[0] + bias[:, None, None], found[1] + np.abs(bias)[:, None, None]]
    return Expected(found[0], 4 * weight.shape[1] * window + POSITION + 1, found[1])


def _added(before: Array | None, value: Array, count: Any, size: Array, shape: Any) -> Expected:
    value, size = value.reshape(shape), size.reshape(shape)
    if before is not None:
        value, size = value + before, size + np.abs(before)
    return Expected(value, count, size)


@dataclass(frozen=True)
class Gradients:
    """Gradients of a call, added to the previous contents."""

    samples: Samples
    grad: Array

    def of_weight(self, before: Array, scale: Any = 1) -> Expected:
        samples = self.samples
        grads = samples.grads(self.grad)
        value, size = samples.values()
        shares = samples.mask[:, :, None]
        sums = [
            scale * np.einsum("nmkp,nmdtp->mkdt", g, samples.as_columns(v), optimize=True)
            for g, v in ((grads, value * shares), (np.abs(grads), size * np.abs(shares)))
        ]
        count = 4 * samples.shape[0] * samples.shape[3] + POSITION + 1
        return _added(before, sums[0], count, np.abs(sums[1]), before.shape)

    def of_input(self, weight: Array, before: Array | None) -> Expected:
        samples = self.samples
        rows, columns, shares = samples.rows, samples.columns, samples.mask[:, :, None]
        back = samples.sample_gradients(weight, self.grad) * shares
        sizes = samples.sample_gradients(np.abs(weight), np.abs(self.grad)) * np.abs(shares)
        value = _spread(back, rows.value, columns.value)
        size = _spread(sizes, rows.value + rows.size, columns.value)
        size += _spread(sizes, rows.value, columns.size)
        filters = len(weight) // samples.groups
        met = _spread(np.ones_like(back), rows.near, columns.near)
        shape = (samples.shape[0], samples.channels, *samples.input.shape[3:])
        count = (met * filters + POSITION + 1).astype(np.int64).reshape(shape)
        return _added(before, value, count, size, shape)

    def of_places(
        self, weight: Array, offset: Array, to_offset: Array | None, to_mask: Array | None
    ) -> dict[str, Expected]:
        samples = self.samples
        back = samples.sample_gradients(weight, self.grad)
        sizes = samples.sample_gradients(np.abs(weight), np.abs(self.grad))
        terms = 4 * samples.input.shape[2] * len(weight) // samples.groups + POSITION + 1
        value, size = samples.values()
        mask = np.sum(back * value, axis=2), np.sum(sizes * size, axis=2)
        moves: list[list[Array]] = [[], []]
        for value, size in samples.slopes():
            moves[0].append(np.sum(back * value, axis=2) * samples.mask)
            moves[1].append(np.sum(sizes * size, axis=2) * np.abs(samples.mask))
        value, size = (np.stack(x, axis=3) for x in moves)
        found = {"offset": _added(to_offset, value, terms, size, offset.shape)}
        if to_mask is not None:
            found["mask"] = _added(to_mask, *(mask[0], terms, mask[1]), to_mask.shape)
        return found


def _spread(grads: Array, rows: Array, columns: Array) -> Array:
    """Scatter samples [n, g, c, t, p] to the cells."""
    wide = np.einsum("ngctp,ngtpw->ngctpw", grads, columns, optimize=True)
    return np.asarray(np.einsum("ngctpw,ngtph->ngchw", wide, rows, optimize=True))


def _plain(input: Array, offset: Array, given: dict[str, int]) -> Samples:
    """Create the arguments from those of diopiDeformConvMmcv."""
    axes = [Axis(*(given[f"{x}{d}"] for x in ("k", "d", "pad", "dilation"))) for d in "HW"]
    groups = given["groups"], given["deform_groups"]
    return Samples(input, offset, None, (axes[0], axes[1]), *groups)


def _modulated(input: Array, offset: Array, mask: Array, given: dict[str, int]) -> Samples:
    names = ("kernel", "stride", "pad", "dilation")
    axes = [Axis(*(given[f"{x}_{d}"] for x in names)) for d in "hw"]
    groups = given["group"], given["deformable_group"]
    return Samples(input, offset, mask, (axes[0], axes[1]), *groups)


@reference("diopiDeformConvMmcv")
def deformable_convolution(
    *, columns: Any, ones: Any, input: Array, weight: Array, offset: Array, **given: int
) -> dict[str, Any]:
    return {
        "output": _output(_plain(input, offset, given), weight, None),
        "columns": None if columns is None else UNSPECIFIED,
        "ones": None if ones is None else UNSPECIFIED,
    }


@reference("diopiDeformConvBackwardInputMmcv")
def gradient_of_input(
    *,
    input: Array,
    offset: Array,
    gradOutput: Array,  # noqa: N803
    weight: Array,
    columns: Any,
    **given: int,
) -> dict[str, Any]:
    gradients = Gradients(_plain(input, offset, given), gradOutput)
    places = gradients.of_places(weight, offset, None, None)
    return {"gradInput": gradients.of_input(weight, None), "gradOffset": places["offset"]}


@reference("diopiDeformConvBackwardParametersMmcv")
def gradient_of_weight(
    *,
    gradOutput: Array,  # noqa: N803
    gradWeight: Array,  # noqa: N803
    input: Array,
    offset: Array,
    columns: Any,
    ones: Any,
    scale: float,
    **given: int,
) -> dict[str, Any]:
    gradients = Gradients(_plain(input, offset, given), gradOutput)
    return {"gradWeight": gradients.of_weight(gradWeight, np.float32(scale))}


@reference("diopiModulatedDeformConvMmcv")
def modulated_convolution(
    *,
    columns: Any,
    ones: Any,
    input: Array,
    weight: Array,
    bias: Any,
    offset: Array,
    mask: Array,
    with_bias: bool,
    **given: int,
) -> dict[str, Any]:
    samples = _modulated(input, offset, mask, given)
    return {
        "output": _output(samples, weight, bias if with_bias else None),
        "columns": None if columns is None else UNSPECIFIED,
        "ones": None if ones is None else UNSPECIFIED,
    }


@reference("diopiModulatedDeformConvBackwardMmcv")
def modulated_gradients(
    *,
    grad_input: Array,
    grad_weight: Array,
    grad_bias: Any,
    grad_offset: Array,
    grad_mask: Array,
    input: Array,
    weight: Array,
    bias: Any,
    ones: Any,
    offset: Array,
    mask: Array,
    columns: Any,
    grad_output: Array,
    with_bias: bool,
    **given: int,
) -> dict[str, Any]:
    gradients = Gradients(_modulated(input, offset, mask, given), grad_output)
    places = gradients.of_places(weight, offset, grad_offset, grad_mask)
    found: dict[str, Any] = {
        "grad_input": gradients.of_input(weight, grad_input),
        "grad_weight": gradients.of_weight(grad_weight),
        "grad_offset": places["offset"],
        "grad_mask": places["mask"],
        "grad_bias": grad_bias,
    }
    if with_bias:
        sums = [np.sum(x, axis=(0, 2, 3)) for x in (grad_output, np.abs(grad_output))]
        count = grad_output.size // max(len(weight), 1) + 1
        found["grad_bias"] = _added(grad_bias, sums[0], count, sums[1], grad_bias.shape)
    return found
