"""Embedding lookup and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiEmbedding")
def embedding(
    *, weight: Array, indices: Array, padding_idx: int, scale_grad_byfreq: bool, sparse: bool
) -> dict[str, Any]:
    return {"out": weight[indices]}


@reference("diopiEmbeddingBackward")
def embedding_backward(
    *,
    grad: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_byfreq: bool,
    sparse: bool,
) -> dict[str, Any]:
    rows = grad.reshape(-1, grad.shape[-1])
    value = np.zeros((num_weights, rows.shape[1]), grad.dtype)
    size = np.zeros_like(value)
    count = np.bincount(indices.ravel(), minlength=num_weights)
    for row, index in zip(rows, indices.ravel(), strict=True):
        if index != padding_idx:
            share = count[index] if scale_grad_byfreq else 1
            value[index] += row / share
            size[index] += np.abs(row) / share
    return {"out": Expected(value, max(indices.size, 1), size)}


@reference("diopiEmbeddingRenorm_")
def embedding_renorm(
    *, inout: Array, indices: Array, max_norm: float, norm_type: float
) -> dict[str, Any]:
    value = inout.copy()
    for row in np.unique(indices):
        norm = np.linalg.norm(inout[row], norm_type)
        if norm > max_norm:
            value[row] = inout[row] * (np.longdouble(max_norm) / (norm + np.longdouble(1e-7)))
    # The sum of powers, its root, and the scale: the relative error of each power is at most p
    # times.
    order = abs(norm_type) if np.isfinite(norm_type) else 1
    length = inout.shape[1] * max(1, int(order)) + 4
    return {"inout": Expected(value, length, np.abs(value))}
