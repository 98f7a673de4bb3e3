"""Convolutions over any number of dimensions in numpy, by definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from support import Array


@dataclass(frozen=True)
class Geometry:
    """Parameters of a convolution, the same for every dimension."""

    stride: int
    padding: int
    dilation: int
    groups: int

    def out_size(self, size: int, kernel: int) -> int:
        return (size + 2 * self.padding - self.dilation * (kernel - 1) - 1) // self.stride + 1

    def places(self, kernel: tuple[int, ...], out: tuple[int, ...]) -> Iterator[tuple]:
        """Yield each position within the window, and the part of the padded image that it reads."""
        for place in product(*map(range, kernel)):
            yield (
                place,
                tuple(
                    slice(
                        k * self.dilation,
                        k * self.dilation + self.stride * (o - 1) + 1,
                        self.stride,
                    )
                    for k, o in zip(place, out, strict=True)
                ),
            )

    def group_slices(self, channels: int) -> list[slice]:
        each = channels // self.groups
        return [slice(g * each, (g + 1) * each) for g in range(self.groups)]


def padded(x: Array, padding: int) -> Array:
    return np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * (x.ndim - 2))


def convolve(x: Array, w: Array, geometry: Geometry) -> Array:
    sizes = [geometry.out_size(*pair) for pair in zip(x.shape[2:], w.shape[2:], strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    image = padded(x, geometry.padding)
    for fs, cs in zip(
        geometry.group_slices(w.shape[0]), geometry.group_slices(x.shape[1]), strict=True
    ):
        for place, read in geometry.places(w.shape[2:], out.shape[2:]):
            taps = w[(fs, slice(None), *place)]
            out[:, fs] += np.einsum("nc...,fc->nf...", image[(slice(None), cs, *read)], taps)
    return out


def input_gradient(g: Array, w: Array, shape: tuple[int, ...], geometry: Geometry) -> Array:
    """Return the gradient of an input of ``shape``, which is also the transposed convolution of
    ``g``."""
    image = padded(np.zeros(shape, g.dtype), geometry.padding)
    for fs, cs in zip(
        geometry.group_slices(w.shape[0]), geometry.group_slices(shape[1]), strict=True
    ):
        for place, read in geometry.places(w.shape[2:], g.shape[2:]):
            taps = w[(fs, slice(None), *place)]
            image[(slice(None), cs, *read)] += np.einsum("nf...,fc->nc...", g[:, fs], taps)
    inner = [slice(geometry.padding, geometry.padding + size) for size in shape[2:]]
    return image[(slice(None), slice(None), *inner)]


def weight_gradient(g: Array, x: Array, shape: tuple[int, ...], geometry: Geometry) -> Array:
    result = np.zeros(shape, g.dtype)
    image = padded(x, geometry.padding)
    for fs, cs in zip(
        geometry.group_slices(shape[0]), geometry.group_slices(x.shape[1]), strict=True
    ):
        for place, read in geometry.places(shape[2:], g.shape[2:]):
            part = image[(slice(None), cs, *read)]
            result[(fs, slice(None), *place)] = np.einsum(
                "nfp,ncp->fc",
                g[:, fs].reshape(g.shape[0], -1, int(np.prod(g.shape[2:]))),
                part.reshape(x.shape[0], -1, int(np.prod(g.shape[2:]))),
            )
    return result
