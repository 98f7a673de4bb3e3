"""Features of points gathered in groups, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _columns(points: Array, idx: Array) -> Array:
    return np.stack([of_batch[:, places] for of_batch, places in zip(points, idx, strict=True)])


class _Sum:
    """Accumulator of a tensor that is updated in place, with number and magnitude of the terms."""

    def __init__(self, before: Array) -> None:
        self.value, self.size = before.copy(), np.abs(before)
        self.count = np.ones(before.shape, np.int64)

    def add(self, at: Any, terms: Array, length: int = 1) -> None:
        np.add.at(self.value, at, terms)
        np.add.at(self.size, at, np.abs(terms))
        np.add.at(self.count, at, length)

    def expected(self) -> Expected:
        return Expected(self.value, self.count, self.size)


@reference("diopiGatherPointsMmcv", "diopiGroupPointsMmcv")
def gather_points(*, points: Array, idx: Array, **sizes: int) -> dict[str, Any]:
    return {"out": _columns(points, idx)}


@reference("diopiGatherPointsBackwardMmcv", "diopiGroupPointsBackwardMmcv")
def gather_points_backward(
    *, grad_points: Array, grad_out: Array, idx: Array, **sizes: int
) -> dict[str, Any]:
    total = _Sum(grad_points)
    for at in np.ndindex(idx.shape):
        total.add((at[0], slice(None), idx[at]), grad_out[(at[0], slice(None), *at[1:])])
    return {"grad_points": total.expected()}


def _stacked(idx: Array, groups: Array, counts: Array) -> Array:
    """Convert indices in each batch to indices in the flattened batches."""
    return np.asarray(idx + np.repeat(np.cumsum(counts) - counts, groups)[:, None])


@reference("diopiStackGroupPointsMmcv")
def stack_group_points(
    *,
    features_tensor: Array,
    features_batch_cnt_tensor: Array,
    idx_tensor: Array,
    idx_batch_cnt_tensor: Array,
    **sizes: int,
) -> dict[str, Any]:
    rows = _stacked(idx_tensor, idx_batch_cnt_tensor, features_batch_cnt_tensor)
    return {"out_tensor": np.moveaxis(features_tensor[rows], 2, 1)}


@reference("diopiStackGroupPointsBackwardMmcv")
def stack_group_points_backward(
    *,
    grad_features_tensor: Array,
    grad_out_tensor: Array,
    idx_tensor: Array,
    idx_batch_cnt_tensor: Array,
    features_batch_cnt_tensor: Array,
    **sizes: int,
) -> dict[str, Any]:
    total = _Sum(grad_features_tensor)
    rows = _stacked(idx_tensor, idx_batch_cnt_tensor, features_batch_cnt_tensor)
    total.add(rows, np.moveaxis(grad_out_tensor, 1, 2))
    return {"grad_features_tensor": total.expected()}


def _apart(points: Array, centers: Array, knn: Array) -> Array:
    """Return differences of neighbors and centers, [B, npoint, K, M, out_dim]."""
    return np.stack([p[k] - c[k[:, :1]] for p, c, k in zip(points, centers, knn, strict=True)])


def _sizes(points: Array, centers: Array, knn: Array) -> Array:
    return _apart(np.abs(points), -np.abs(centers), knn)


@reference("diopiAssignScoreWithkMmcv")
def assign_score(
    *, output: Array, points: Array, centers: Array, scores: Array, knn_idx: Array, **sizes: int
) -> dict[str, Any]:
    terms = "bikm,bikmo->boik"
    value = np.einsum(terms, scores, _apart(points, centers, knn_idx))
    size = np.einsum(terms, np.abs(scores), _sizes(points, centers, knn_idx))
    # A difference and a product for each term.
    length = 2 * scores.shape[-1] + 1
    return {"output": Expected(output + value, length, np.abs(output) + size)}


@reference("diopiAssignScoreWithkBackwardMmcv")
def assign_score_backward(
    *,
    grad_points: Array,
    grad_centers: Array,
    grad_scores: Array,
    grad_out: Array,
    points: Array,
    centers: Array,
    scores: Array,
    knn_idx: Array,
    **sizes: int,
) -> dict[str, Any]:
    by_point = np.einsum("boik,bikm->bikmo", grad_out, scores)
    to_points, to_centers = _Sum(grad_points), _Sum(grad_centers)
    for at in np.ndindex(knn_idx.shape):
        batch, group, _ = at
        to_points.add((batch, knn_idx[at]), by_point[at], 2)
        to_centers.add((batch, knn_idx[batch, group, 0]), -by_point[at], 2)
    terms = "boik,bikmo->bikm"
    to_scores = np.einsum(terms, grad_out, _apart(points, centers, knn_idx))
    size = np.einsum(terms, np.abs(grad_out), _sizes(points, centers, knn_idx))
    length = 2 * points.shape[-1] + 1
    return {
        "grad_points": to_points.expected(),
        "grad_centers": to_centers.expected(),
        "grad_scores": Expected(grad_scores + to_scores, length, np.abs(grad_scores) + size),
    }
