"""References of neighbours in point clouds."""

from __future__ import annotations

from typing import Any

import numpy as np

from referenced import Expected
from references import reference


def squares(a: Any, b: Any) -> Any:
    """Squared distances of all pairs."""
    return ((a[..., :, None, :] - b[..., None, :, :]) ** 2).sum(-1)


def first_of(before: Any, inside: Any) -> Any:
    """The first positions that are true, then the first of them again."""
    found = np.flatnonzero(inside)[: len(before)]
    return np.array([*found, *[found[0]] * (len(before) - len(found))]) if len(found) else before


@reference("diopiBallQueryMmcv")
def ball_query(*, idx: Any, center_xyz: Any, xyz: Any, min_radius: float, max_radius: float,
               **_: Any) -> dict[str, Any]:  # fmt: skip
    d = squares(center_xyz, xyz)
    inside = (d == 0) | ((d >= min_radius**2) & (d < max_radius**2))
    out = idx.copy()
    for at in np.ndindex(idx.shape[:2]):
        out[at] = first_of(idx[at], inside[at])
    return {"idx": out}


@reference("diopiStackBallQueryMmcv")
def stack_ball_query(*, idx: Any, center_xyz: Any, center_xyz_batch_cnt: Any, xyz: Any,
                     xyz_batch_cnt: Any, max_radius: float,
                     **_: Any) -> dict[str, Any]:  # fmt: skip
    out, ends = idx.copy(), np.cumsum(xyz_batch_cnt)
    batches = np.repeat(np.arange(len(ends)), center_xyz_batch_cnt)
    for i, batch in enumerate(batches):
        points = xyz[ends[batch] - xyz_batch_cnt[batch] : ends[batch]]
        inside = squares(center_xyz[i : i + 1], points)[0] < max_radius**2
        out[i] = first_of(out[i], inside)
        if not inside.any():
            out[i, 0] = -1
    return {"idx": out}


def nearest(queries: Any, points: Any, count: int) -> tuple[Any, Any]:
    d = squares(queries, points)
    order = np.argsort(d, -1, kind="stable")[..., :count]
    return np.take_along_axis(d, order, -1), order


@reference("diopiKnnMmcv")
def knn(*, xyz_tensor: Any, new_xyz_tensor: Any, nsample: int, **_: Any) -> dict[str, Any]:
    d, order = nearest(new_xyz_tensor, xyz_tensor, nsample)
    return {"idx_tensor": order, "dist2_tensor": d}


@reference("diopiThreeNnMmcv")
def three_nn(*, unknown: Any, known: Any, **_: Any) -> dict[str, Any]:
    d, order = nearest(unknown, known, 3)
    return {"dist2": d, "idx": order}


@reference("diopiThreeInterpolateMmcv")
def three_interpolate(*, points: Any, idx: Any, weight: Any, **_: Any) -> dict[str, Any]:
    taken = np.stack([p[:, i] for p, i in zip(points, idx, strict=True)])
    terms = taken * weight[:, None]
    return {"out": Expected(terms.sum(-1), 3, np.abs(terms).sum(-1))}


@reference("diopiThreeInterpolateBackwardMmcv")
def three_interpolate_backward(
    *, grad_points: Any, grad_out: Any, idx: Any, weight: Any, **_: Any
) -> dict[str, Any]:
    out, size = grad_points.copy(), np.abs(grad_points)
    for at in np.ndindex(idx.shape):
        out[at[0], :, idx[at]] += weight[at] * grad_out[at[0], :, at[1]]
        size[at[0], :, idx[at]] += np.abs(weight[at] * grad_out[at[0], :, at[1]])
    return {"grad_points": Expected(out, 64, size)}


def spread_out(before: Any, distances: Any, count: int) -> tuple[Any, Any]:
    """Of one batch, by the definition: the point furthest from the set chosen before."""
    chosen = [0]
    for _ in range(count - 1):
        chosen.append(int(np.argmax(np.minimum(before, distances[chosen].min(0)))))
    seen = np.minimum(before, distances[chosen[:-1]].min(0)) if count > 1 else before
    return chosen, seen


def furthest(temp: Any, distances: Any, count: int) -> dict[str, Any]:
    found = [spread_out(t, d, count) for t, d in zip(temp, distances, strict=True)]
    return {"temp_tensor": np.stack([seen for _, seen in found]),
            "idx_tensor": np.array([chosen for chosen, _ in found])}  # fmt: skip


@reference("diopiFurthestPointSamplingMmcv")
def furthest_points(
    *, temp_tensor: Any, points_xyz: Any, num_points: int, **_: Any
) -> dict[str, Any]:
    return furthest(temp_tensor, squares(points_xyz, points_xyz), num_points)


@reference("diopiFurthestPointSamplingWithDistMmcv")
def furthest_by_distance(
    *, temp_tensor: Any, points_dist: Any, num_points: int, **_: Any
) -> dict[str, Any]:
    return furthest(temp_tensor, points_dist, num_points)


@reference("diopiChamferDistanceMmcv")
def chamfer(*, xyz1: Any, xyz2: Any) -> dict[str, Any]:
    d = squares(xyz1, xyz2)
    return {"dist1": Expected(d.min(2), 2), "dist2": Expected(d.min(1), 2),
            "idx1": d.argmin(2), "idx2": d.argmin(1)}  # fmt: skip


@reference("diopiChamferDistanceBackwardMmcv")
def chamfer_backward(*, grad_xyz1: Any, grad_xyz2: Any, xyz1: Any, xyz2: Any, idx1: Any, idx2: Any,
                     grad_dist1: Any, grad_dist2: Any) -> dict[str, Any]:  # fmt: skip
    out1, out2 = grad_xyz1.copy(), grad_xyz2.copy()
    pairs = [(b, i, idx1[b, i], grad_dist1[b, i]) for b, i in np.ndindex(idx1.shape)]
    pairs += [(b, idx2[b, j], j, grad_dist2[b, j]) for b, j in np.ndindex(idx2.shape)]
    for b, i, j, grad in pairs:
        moved = 2 * grad * (xyz1[b, i] - xyz2[b, j])
        out1[b, i] += moved
        out2[b, j] -= moved
    return {"grad_xyz1": Expected(out1, 32, np.abs(out1) + 64),
            "grad_xyz2": Expected(out2, 32, np.abs(out2) + 64)}  # fmt: skip


def of_channels(vector: Any) -> Any:
    return vector[None, :, None]


def summed(terms: Any) -> Expected:
    return Expected(terms.sum((0, 2)), 64, np.abs(terms).sum((0, 2)) + 1)


@reference("diopiSyncBnMeanMmcv")
def bn_mean(*, input: Any) -> dict[str, Any]:
    return {"mean": summed(input / (input.shape[0] * input.shape[2]))}


@reference("diopiSyncBnVarMmcv")
def bn_var(*, input: Any, mean: Any) -> dict[str, Any]:
    terms = (input - of_channels(mean)) ** 2
    return {"var": summed(terms / (input.shape[0] * input.shape[2]))}


@reference("diopiSyncBnOutputMmcv")
def bn_output(*, running_mean: Any, running_var: Any, input: Any, mean: Any, var: Any, weight: Any,
              bias: Any, eps: float, momentum: float,
              group_size: int) -> dict[str, Any]:  # fmt: skip
    eps, momentum = float(np.float32(eps)), float(np.float32(momentum))
    std = np.sqrt(var + eps)
    norm = (input - of_channels(mean)) / of_channels(std)
    output = norm * of_channels(weight) + of_channels(bias)
    results = {"std": std, "output": Expected(output, 4, np.abs(output) + 16),
               "norm": Expected(norm, 4, np.abs(norm) + 4)}  # fmt: skip
    if running_mean is not None:
        count = input.shape[0] * input.shape[2] * group_size
        results["running_mean"] = (1 - momentum) * running_mean + momentum * mean
        results["running_var"] = (1 - momentum) * running_var + momentum * var * count / (count - 1)
    return {key: value if isinstance(value, Expected) else Expected(value, 4, np.abs(value) + 4)
            for key, value in results.items()}  # fmt: skip


@reference("diopiSyncBnBackwardParamMmcv")
def bn_backward_param(*, grad_output: Any, norm: Any) -> dict[str, Any]:
    return {"grad_weight": summed(grad_output * norm), "grad_bias": summed(grad_output)}


@reference("diopiSyncBnBackwardDataMmcv")
def bn_backward_data(*, grad_output: Any, weight: Any, grad_weight: Any, grad_bias: Any, norm: Any,
                     std: Any) -> dict[str, Any]:  # fmt: skip
    count = grad_output.shape[0] * grad_output.shape[2]
    common = (of_channels(grad_weight) * norm + of_channels(grad_bias)) / count
    value = of_channels(weight / std) * (grad_output - common)
    return {"grad_input": Expected(value, 8, np.abs(value) + 64)}
