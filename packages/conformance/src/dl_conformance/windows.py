"""Pooling windows: the cells that each output covers."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from .inputs import integers
from .reference import Array

Sizes = tuple[int, ...]


def several(sizes: Any, dims: int, default: Any = None) -> Sizes:
    """Return one entry for each dimension."""
    given = sizes if sizes else default
    return tuple(given) * dims if len(given) == 1 else tuple(given)


def output_size(n: int, kernel: int, stride: int, pad: int, dilation: int, ceil: bool) -> int:
    """Return the number of windows; ``ceil`` adds one that starts inside and ends outside."""
    room = n + 2 * pad - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil else 0)) // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= n + pad else count


def sliding(
    spatial: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil: bool
) -> tuple[Sizes, Iterator[tuple[Sizes, list[Array]]]]:
    """Return the output shape, and for each output index the cells along each dimension."""
    each = list(zip(spatial, kernel, stride, padding, dilation, strict=True))
    outputs = tuple(output_size(n, k, s, p, d, ceil) for n, k, s, p, d in each)

    def places() -> Iterator[tuple[Sizes, list[Array]]]:
        for place in np.ndindex(*outputs):
            cells = []
            for at, (n, k, s, p, d) in zip(place, each, strict=True):
                line = at * s - p + np.arange(k) * d
                cells.append(line[(line >= 0) & (line < n)])
            yield place, cells

    return outputs, places()


def adaptive(spatial: Sizes, outputs: Sizes) -> Iterator[tuple[Sizes, list[Array]]]:
    """Yield each output index and its cells for windows that depend on the output size."""
    for place in np.ndindex(*outputs):
        yield (
            place,
            [
                np.arange(i * n // m, -(-(i + 1) * n // m))
                for i, n, m in zip(place, spatial, outputs, strict=True)
            ],
        )


def picked(input: Array, cells: list[Array]) -> Array:
    """Return the elements of a window, flattened after the leading dimensions."""
    count = prod(len(x) for x in cells)
    lead = input.shape[: input.ndim - len(cells)]
    at: tuple[Any, ...] = (..., *np.ix_(*cells))
    return np.asarray(input[at]).reshape(*lead, count)


def positions(spatial: Sizes, cells: list[Array]) -> Array:
    """Return the indices of the elements of a window in the flattened plane."""
    return np.ravel_multi_index(np.meshgrid(*cells, indexing="ij"), spatial).ravel()


def some_positions(
    key: str, lead: Sizes, spatial: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes
) -> Array:
    """Return a random cell of each window, a possible argmax, as a flat index in the plane."""
    outputs, places = sliding(spatial, kernel, stride, padding, (1,) * len(spatial), False)
    found = np.zeros((*lead, *outputs), np.int64)
    for place, cells in places:
        at = positions(spatial, cells)
        chosen = integers(f"{key} {place}", prod(lead), 0, at.size - 1).reshape(lead)
        output: Any = (..., *place)
        found[output] = at[chosen]
    return found
