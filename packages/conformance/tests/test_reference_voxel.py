"""References of voxelization and of pooling over points in boxes are right in the suite's cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl_conformance.inputs import Array
from suite_arguments import arguments_of, direction, results_of, slope


def test_voxels_are_those_of_sorted_borders() -> None:
    """Return the number of borders between voxels at or below a point."""
    for name, given in arguments_of("diopiDynamicVoxelizeMmcv"):
        span, size, points = (given[k] for k in ("coors_range", "voxel_size", "points"))
        found = results_of("diopiDynamicVoxelizeMmcv", given)["coors"]
        where = []
        for d in range(3):
            count = int(np.round((span[3 + d] - span[d]) / size[d]))
            borders = span[d] + size[d] * np.arange(count + 1)
            at = np.searchsorted(borders, points[:, d], side="right") - 1
            where.append(np.where((at >= 0) & (at < count), at, -1))
        want = np.stack(where[::-1], axis=1)
        want[np.any(want < 0, axis=1)] = -1
        np.testing.assert_array_equal(found, want, err_msg=name)


def test_slots_hold_the_first_points_of_the_first_voxels() -> None:
    for name, given in arguments_of("diopiHardVoxelizeMmcv"):
        if not given["deterministic"]:
            continue
        found = results_of("diopiHardVoxelizeMmcv", given)
        coors = results_of("diopiDynamicVoxelizeMmcv", given)["coors"]
        inside = np.flatnonzero(coors[:, 0] >= 0)
        distinct, firsts, group = np.unique(
            coors[inside], axis=0, return_index=True, return_inverse=True
        )
        order = np.argsort(firsts)[: given["max_voxels"]]
        assert found["voxel_num"] == len(order), name
        np.testing.assert_array_equal(found["coors"][: len(order)], distinct[order])
        for slot, voxel in enumerate(order):
            members = inside[group.ravel() == voxel][: given["max_points"]]
            assert found["num_points_per_voxel"][slot] == len(members), name
            kept = found["voxels"][slot, : len(members)]
            np.testing.assert_array_equal(kept, given["points"][members], err_msg=name)
        untouched = given["voxels"][len(order) :]
        np.testing.assert_array_equal(found["voxels"][len(order) :], untouched)


def test_points_are_combined_as_torch_does() -> None:
    torch = pytest.importorskip("torch")
    for name, given in arguments_of("diopiDynamicPointToVoxelMmcv"):
        coors = torch.from_numpy(given["coors"].copy())
        feats = torch.from_numpy(given["feats"].astype(np.float64))
        inside = (coors >= 0).all(dim=1)
        distinct, group, counts = torch.unique(
            coors[inside], dim=0, return_inverse=True, return_counts=True
        )
        kind = ("sum", "mean", "amax")[given["reduce_type"]]
        index = group[:, None].expand(-1, feats.shape[1])
        zeros = torch.zeros(len(distinct), feats.shape[1], dtype=torch.float64)
        combined = zeros.scatter_reduce(0, index, feats[inside], kind, include_self=False)
        rows = torch.full((len(coors),), -1)
        rows[inside] = group
        found = results_of("diopiDynamicPointToVoxelMmcv", given)["outlist"]
        np.testing.assert_allclose(
            found[0].astype(np.float64), combined.numpy(), 1e-13, 1e-13, err_msg=name
        )
        for got, want in zip(found[1:], (distinct, rows, counts), strict=True):
            np.testing.assert_array_equal(got, want.numpy().reshape(got.shape), err_msg=name)


def combined(given: dict[str, Any], feats: Array) -> Array:
    return np.asarray(
        results_of("diopiDynamicPointToVoxelMmcv", {**given, "feats": feats})["outlist"][0]
    )


def test_gradients_of_combined_features_are_slopes() -> None:
    """Use well-separated features, so that the maximum stays the maximum."""
    step = np.longdouble(2) ** -20
    for name, given in arguments_of("diopiDynamicPointToVoxelMmcv"):
        reduced, _, rows, counts = results_of("diopiDynamicPointToVoxelMmcv", given)["outlist"]
        grad, along = direction(name, reduced), direction(f"{name} along", given["feats"])
        back = {
            "grad_feats": direction(f"{name} before", given["feats"]),
            "grad_reduced_feats": grad,
            "feats": given["feats"],
            "reduced_feats": reduced,
            "coors_idx": rows,
            "reduce_count": counts,
            "reduce_type": given["reduce_type"],
        }
        found = results_of("diopiDynamicPointToVoxelBackwardMmcv", back)["grad_feats"]
        ends = [combined(given, given["feats"] + sign * step * along) for sign in (1, -1)]
        want = np.sum((ends[0] - ends[1]) * grad) / (2 * step)
        got = np.sum((found - back["grad_feats"]) * along)
        assert abs(got - want) < 1e-8 * (1 + abs(want)), name


def in_box(box: Array, points: Array) -> tuple[Array, Array]:
    """Return the mask of points inside a box and their relative positions, by complex numbers."""
    turned = ((points[:, 0] - box[0]) + 1j * (points[:, 1] - box[1])) * np.exp(-1j * box[6])
    parts = np.stack([turned.real / box[3] + 0.5, turned.imag / box[4] + 0.5], axis=1)
    parts = np.concatenate([parts, ((points[:, 2] - box[2]) / box[5])[:, None]], axis=1)
    flat = (parts[:, :2] > 0) & (parts[:, :2] < 1)
    return np.all(flat, axis=1) & (parts[:, 2] >= 0) & (parts[:, 2] <= 1), parts


def test_lists_have_the_points_of_each_part_of_a_box() -> None:
    for name, given in arguments_of("diopiRoiawarePool3dMmcv"):
        found = results_of("diopiRoiawarePool3dMmcv", given)
        lists, sides = found["pts_idx_of_voxels"], given["pooled_features"].shape[1:4]
        for n, box in enumerate(given["rois"]):
            inside, parts = in_box(box, given["pts"])
            for at in np.ndindex(*sides):
                low, high = np.array(at) / sides, (np.array(at) + 1) / sides
                here = np.all((parts >= low) & (parts < high), axis=1) & inside
                want = np.flatnonzero(here)[: lists.shape[-1] - 1]
                listed, features = lists[(n, *at)], given["pts_feature"][want]
                assert listed[0] == len(want), name
                np.testing.assert_array_equal(listed[1 : 1 + len(want)], want)
                pooled = found["pooled_features"][(n, *at)]
                if not len(want):
                    np.testing.assert_array_equal(pooled, given["pooled_features"][(n, *at)])
                elif given["pool_method"] == 0:
                    np.testing.assert_array_equal(pooled, features.max(axis=0))
                    kept = found["argmax"][(n, *at)]
                    taken = given["pts_feature"][kept, np.arange(len(kept))]
                    np.testing.assert_array_equal(taken, pooled)
                else:
                    np.testing.assert_allclose(pooled, features.mean(axis=0), 1e-15)


def test_gradients_of_pooled_points_are_slopes() -> None:
    forward, compared = "diopiRoiawarePool3dMmcv", 0
    for name, stored in arguments_of(forward):
        # The maximum is not differentiable at equal features.
        apart = direction(f"{name} apart", stored["pts_feature"]) / 64
        given = {**stored, "pts_feature": stored["pts_feature"] + apart}
        found = results_of(forward, given)
        grad = direction(name, found["pooled_features"])
        back = {
            **given,
            **found,
            "grad_out": grad,
            "grad_in": direction("in", given["pts_feature"]),
        }
        got = results_of("diopiRoiawarePool3dBackwardMmcv", back)["grad_in"] - back["grad_in"]
        along = direction(f"{name} along", given["pts_feature"])
        want = slope(forward, "pooled_features", grad, given, "pts_feature", along)
        assert abs(np.sum(got * along) - want) < 1e-8 * (1 + abs(want)), name
        compared += want != 0
    assert compared


def test_gathered_points_are_those_inside() -> None:
    for name, given in arguments_of("diopiRoipointPool3dMmcv"):
        found = results_of("diopiRoipointPool3dMmcv", given)
        for b, m in np.ndindex(found["pooled_empty_flag"].shape):
            inside = np.flatnonzero(in_box(given["boxes3d"][b, m], given["xyz"][b])[0])
            samples = found["pooled_features"][b, m]
            assert found["pooled_empty_flag"][b, m] == (len(inside) == 0), name
            if not len(inside):
                np.testing.assert_array_equal(samples, given["pooled_features"][b, m])
                continue
            taken = np.resize(inside, len(samples))
            both = np.concatenate([given["xyz"][b], given["pts_feature"][b]], axis=1)
            np.testing.assert_array_equal(samples, both[taken], err_msg=name)
