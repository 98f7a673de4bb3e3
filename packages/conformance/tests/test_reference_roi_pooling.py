"""References of region pooling are right in the cases of the suite."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dl_conformance.sampling import tents
from suite_arguments import arguments_of, direction, results_of, slope

GAUSS = np.longdouble(1) / np.sqrt(np.longdouble(3))


def test_cells_of_a_bin_are_those_that_overlap_it() -> None:
    """Return the arguments in float64, in which the coordinates of the cases are exact."""
    for name, given in arguments_of("diopiRoiPoolMmcv"):
        found, planes = results_of("diopiRoiPoolMmcv", given), given["input"]
        scale = float(np.float32(given["spatial_scale"]))
        for k, c, i, j in np.ndindex(found["output"].shape):
            b, x1, y1, x2, y2 = map(float, given["rois"][k])
            overlapping = []
            for low, high, at, bins, size in (
                (y1 * scale, (y2 + 1) * scale, i, given["pooled_height"], planes.shape[2]),
                (x1 * scale, (x2 + 1) * scale, j, given["pooled_width"], planes.shape[3]),
            ):
                edges = [low + n * (high - low) / bins for n in (at, at + 1)]
                cells = np.arange(size)
                overlapping.append(
                    (edges[0] < edges[1]) & (cells < edges[1]) & (cells + 1 > edges[0])
                )
            inside = np.logical_and.outer(*overlapping)
            plane, place = planes[int(b), c], found["argmax"][k, c, i, j]
            if not inside.any():
                assert (found["output"][k, c, i, j], place) == (0, -1), name
                continue
            assert found["output"][k, c, i, j] == plane[inside].max(), name
            assert inside.ravel()[place], name
            assert plane.ravel()[place] == plane[inside].max(), name


def line_points(low: Any, high: Any) -> list[tuple[Any, Any]]:
    """Return nodes and weights of two-point Gauss quadrature between cells, exact for cubics."""
    borders = [low, *np.arange(np.floor(low) + 1, np.ceil(high)), high]
    points = []
    for a, b in pairwise(borders):
        points += [((a + b) / 2 + s * (b - a) / 2 * GAUSS, (b - a) / 2) for s in (-1, 1)]
    return points


def test_exact_means_are_those_of_gauss_rule() -> None:
    for name, given in arguments_of("diopiPrroiPoolMmcv"):
        planes = given["input"]
        want = np.zeros(
            (len(given["rois"]), planes.shape[1], given["pooled_height"], given["pooled_width"]),
            np.longdouble,
        )
        scale = np.longdouble(np.float32(given["spatial_scale"]))
        for k, _, i, j in np.ndindex(want.shape):
            b, x1, y1, x2, y2 = given["rois"][k] * [1, scale, scale, scale, scale]
            high, wide = (y2 - y1) / want.shape[2], (x2 - x1) / want.shape[3]
            if high <= 0 or wide <= 0:
                continue
            rows = sum(
                w * tents(y, planes.shape[2])
                for y, w in line_points(y1 + i * high, y1 + (i + 1) * high)
            )
            columns = sum(
                w * tents(x, planes.shape[3])
                for x, w in line_points(x1 + j * wide, x1 + (j + 1) * wide)
            )
            want[k, :, i, j] = np.einsum("chw,h,w->c", planes[int(b)], rows, columns) / (
                high * wide
            )
        found = results_of("diopiPrroiPoolMmcv", given)["output"]
        np.testing.assert_allclose(found, want, rtol=1e-15, atol=1e-15, err_msg=name)


def test_bins_that_all_move_alike_are_a_region_that_moves() -> None:
    for name, given in arguments_of("diopiDeformRoiPoolMmcv"):
        if given["offset"] is None or given["offset"].size == 0:
            continue
        move = direction(name, given["offset"][:, :, :1, :1])
        moved = {**given, "offset": np.broadcast_to(move, given["offset"].shape)}
        found = results_of("diopiDeformRoiPoolMmcv", moved)["output"]
        rois = given["rois"].copy()
        sizes = rois[:, 3:] - rois[:, 1:3]
        far = np.longdouble(np.float32(given["gamma"])) * sizes * move[:, :, 0, 0]
        rois[:, 1:] += np.concatenate([far, far], axis=1)
        aligned = {
            **given,
            "rois": rois,
            "aligned_height": given["pooled_height"],
            "aligned_width": given["pooled_width"],
            "pool_mode": 1,
            "aligned": True,
        }
        want = results_of("diopiRoiAlignMmcv", aligned)["output"]
        np.testing.assert_allclose(found, want, rtol=1e-15, atol=1e-15, err_msg=name)


def find_direction(name: str, given: dict[str, Any]) -> np.ndarray:
    """Return a direction; empty regions stay, because their means are discontinuous."""
    along = direction(name, given[name])
    if name == "rois":
        sizes = given["rois"][:, 3:] - given["rois"][:, 1:3]
        along[:, 0] = 0
        along[~np.all(sizes > 0, axis=1)] = 0
    return along


@pytest.mark.parametrize(
    ("backward", "forward", "output", "grads"),
    [
        ("diopiPrroiPoolbackwardMmcv", "diopiPrroiPoolMmcv", "output", {"input": "grad_input"}),
        ("diopiPrroiPoolCoorBackwardMmcv", "diopiPrroiPoolMmcv", "output", {"rois": "grad_rois"}),
        (
            "diopiDeformRoiPoolBackwardMmcv",
            "diopiDeformRoiPoolMmcv",
            "output",
            {"input": "grad_input", "offset": "grad_offset"},
        ),
        ("diopiRoiPoolBackwardMmcv", "diopiRoiPoolMmcv", "output", {"input": "grad_input"}),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_gradients_are_slopes(
    backward: str, forward: str, output: str, grads: dict[str, str]
) -> None:
    compared = set()
    for name, given in arguments_of(backward):
        if "input" not in given:
            given["input"] = direction(name, given["grad_input"])
        saved = results_of(forward, given)
        found = results_of(backward, {**given, **saved})
        for read, written in grads.items():
            before = given.get(written)
            if before is None or before.size == 0:
                continue
            along = find_direction(read, given)
            want = slope(forward, output, given["grad_output"], given, read, along)
            got = np.sum((found[written] - before) * along)
            assert abs(got - want) < 1e-8 * (1 + abs(want)), f"{name}: {written}"
            compared.add(written)
    assert compared == set(grads.values())
