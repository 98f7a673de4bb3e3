"""Features of points gathered in groups."""

from __future__ import annotations

import numpy as np
import pytest

import references_points  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


def places(shape: tuple[int, ...], high: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, high, shape)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gather_and_group(vendor: Vendor, dtype: str, layout: str) -> None:
    points, sizes = numbers((2, 3, 7), dtype, 60), {"b": 2, "c": 3, "n": 7, "npoints": 5}
    for name, shape, more in (
        ("GatherPoints", (2, 5), {}),
        ("GroupPoints", (2, 5, 4), {"nsample": 4}),
    ):
        idx, grad = places(shape, 7, 61), numbers((2, 3, *shape[1:]), dtype, 62)
        check_operator(
            vendor, f"diopi{name}Mmcv", dtype, layout, points=points, idx=idx, **sizes, **more
        )
        check_operator(
            vendor, f"diopi{name}BackwardMmcv", dtype, layout, grad_points=points,
            grad_out=grad, idx=idx, **sizes, **more,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_stacked_groups(vendor: Vendor, dtype: str, layout: str) -> None:
    features = numbers((9, 3), dtype, 63)
    given = {"features_batch_cnt_tensor": np.array([4, 5]), "idx_tensor": places((6, 2), 4, 64),
             "idx_batch_cnt_tensor": np.array([1, 5]), "b": 2, "c": 3, "m": 6,
             "nsample": 2}  # fmt: skip
    check_operator(
        vendor, "diopiStackGroupPointsMmcv", dtype, layout, features_tensor=features, **given
    )
    check_operator(
        vendor, "diopiStackGroupPointsBackwardMmcv", dtype, layout, grad_features_tensor=features,
        grad_out_tensor=numbers((6, 3, 2), dtype, 65), n=9, **given,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_assigned_scores(vendor: Vendor, dtype: str, layout: str) -> None:
    points, centers = numbers((2, 5, 2, 3), dtype, 66), numbers((2, 5, 2, 3), dtype, 67)
    scores, out = numbers((2, 4, 3, 2), dtype, 68), numbers((2, 3, 4, 3), dtype, 69)
    given = {"points": points, "centers": centers, "scores": scores,
             "knn_idx": places((2, 4, 3), 5, 70), "B": 2, "N": 5, "npoint": 4, "M": 2, "K": 3,
             "out_dim": 3, "aggregate": 0}  # fmt: skip
    check_operator(vendor, "diopiAssignScoreWithkMmcv", dtype, layout, output=out, **given)
    check_operator(
        vendor, "diopiAssignScoreWithkBackwardMmcv", dtype, layout, grad_points=points,
        grad_centers=centers, grad_scores=scores, grad_out=out, **given,
    )  # fmt: skip


def test_places_outside_are_told(vendor: Vendor) -> None:
    out, points = out_like(vendor, (1, 2, 2), "float32"), out_like(vendor, (1, 2, 3), "float32")
    wrong = vendor.tensor(np.array([[0, 3]], np.int32))
    with pytest.raises(OperatorError, match="index 3 at position 1 is out of range"):
        vendor.op.GatherPointsMmcv(out, points, wrong, 1, 2, 3, 2)
    with pytest.raises(OperatorError, match=r"out has the shape \[1, 2, 2\]; it needs \[1, 2, 4\]"):
        vendor.op.GatherPointsMmcv(out, points, wrong, 1, 2, 3, 4)
