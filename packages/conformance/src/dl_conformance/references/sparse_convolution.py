"""Convolution and pooling of sparse voxels by pairs of rows, and their gradients.

Conventions follow MMCV 2.x (``mmcv/ops/sparse_ops.py``) and thereby spconv 1.x: Yan, Mao,
Li, "SECOND: Sparsely Embedded Convolutional Detection", Sensors 18 (2018); submanifolds: Graham,
van der Maaten, "Submanifold Sparse Convolutional Networks" (2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

Pairs = Iterator[tuple[int, int, int]]


def _pairs(
    arguments: dict[str, Any], inverse: bool = False, whole: int = -1, rows: int = 0
) -> Pairs:
    """Yield kernel cell, input row and output row of all pairs."""
    pairs, counts = arguments["indicePairs"], arguments["indiceNum"]
    cells = len(counts)
    by_cell = pairs if pairs.shape[:2] == (cells, 2) else pairs.swapaxes(0, 1)
    for k in range(cells):
        if k == whole:
            yield from ((k, row, row) for row in range(rows))
            continue
        for p in range(counts[k]):
            first, second = (int(by_cell[k, side, p]) for side in range(2))
            yield (k, second, first) if inverse else (k, first, second)


def _convolution_pairs(features: Array, arguments: dict[str, Any]) -> list[tuple[int, int, int]]:
    whole = int(np.argmax(arguments["indiceNum"])) if arguments["_subM"] else -1
    return list(_pairs(arguments, arguments["_inverse"] != 0, whole, len(features)))


def _convolution(features: Array, filters: Array, arguments: dict[str, Any]) -> tuple[Array, ...]:
    """Return the sums, the sums of absolute terms, and the numbers of terms."""
    cells = filters.reshape(-1, *filters.shape[-2:])
    shape = (arguments["numActOut"], filters.shape[-1])
    value, size = np.zeros((2, *shape), features.dtype)
    length = np.zeros(shape, np.int64)
    for k, source, target in _convolution_pairs(features, arguments):
        value[target] += features[source] @ cells[k]
        size[target] += np.abs(features[source]) @ np.abs(cells[k])
        length[target] += features.shape[1]
    return value, size, length


@reference("diopiIndiceConvMmcv")
def indice_conv(*, features: Array, filters: Array, **arguments: Any) -> dict[str, Any]:
    value, size, length = _convolution(features, filters, arguments)
    return {"out": Expected(value, np.maximum(length, 1), size)}


@reference("diopiFusedIndiceConvBatchnormMmcv")
def fused_indice_conv(
    *, features: Array, filters: Array, bias: Array, **arguments: Any
) -> dict[str, Any]:
    value, size, length = _convolution(features, filters, arguments)
    return {"out": Expected(value + bias, length + 1, size + np.abs(bias))}


@reference("diopiIndiceConvBackwardMmcv")
def indice_conv_backward(*, features: Array, filters: Array, **arguments: Any) -> dict[str, Any]:
    grads = arguments["outGrad"]
    cells = filters.reshape(-1, *filters.shape[-2:])
    value, size = np.zeros((2, *features.shape), features.dtype)
    of_cells, size_of_cells = np.zeros((2, *cells.shape), features.dtype)
    length = np.zeros(features.shape, np.int64)
    length_of_cells = np.zeros(cells.shape, np.int64)
    for k, source, target in _convolution_pairs(features, arguments):
        row, grad = features[source], grads[target]
        value[source] += cells[k] @ grad
        size[source] += np.abs(cells[k]) @ np.abs(grad)
        length[source] += grad.size
        of_cells[k] += np.outer(row, grad)
        size_of_cells[k] += np.abs(np.outer(row, grad))
        length_of_cells[k] += 1
    shape = filters.shape
    return {
        "outlist": [
            Expected(value, np.maximum(length, 1), size),
            Expected(
                of_cells.reshape(shape),
                np.maximum(length_of_cells, 1).reshape(shape),
                size_of_cells.reshape(shape),
            ),
        ]
    }


@reference("diopiIndiceMaxpoolMmcv")
def indice_maxpool(*, features: Array, **arguments: Any) -> dict[str, Any]:
    out = np.zeros((arguments["numAct"], features.shape[1]), features.dtype)
    for _, source, target in _pairs(arguments):
        larger = features[source] > out[target]
        out[target] = np.where(larger, features[source], out[target])
    return {"out": out}


@reference("diopiIndiceMaxpoolBackwardMmcv")
def indice_maxpool_backward(*, features: Array, **arguments: Any) -> dict[str, Any]:
    value, size = np.zeros((2, *features.shape), features.dtype)
    length = np.zeros(features.shape, np.int64)
    for _, source, target in _pairs(arguments):
        equal = features[source] == arguments["outFeatures"][target]
        grad = np.where(equal, arguments["outGrad"][target], 0)
        value[source] += grad
        size[source] += np.abs(grad)
        length[source] += equal
    return {"out": Expected(value, np.maximum(length, 1), size)}
