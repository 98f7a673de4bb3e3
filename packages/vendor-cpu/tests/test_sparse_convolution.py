"""Tests of convolution and pooling of sparse voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import Array, out_like

OPERATORS = (
    *("IndiceMaxpoolMmcv", "IndiceMaxpoolBackwardMmcv"),
    *("IndiceConvMmcv", "IndiceConvBackwardMmcv", "FusedIndiceConvBatchnormMmcv"),
)
ONE_CELL = np.array([[[0, 1, -1], [1, 0, -1]]], np.int32)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def convolved(
    vendor: Vendor, pairs: Array, counts: list[int], rows: int = 2, **others: Any
) -> Array:
    cells = len(counts)
    given = dict(
        features=vendor.tensor(np.array([[1.0], [10.0]])),
        filters=vendor.tensor(np.arange(2.0, 2 + cells).reshape(cells, 1, 1)),
        indicePairs=vendor.tensor(pairs),
        indiceNum=vendor.tensor(np.array(counts, np.int32)),
        numActOut=rows,
        _inverse=0,
        _subM=0,
    )
    result: Array = vendor.op.IndiceConvMmcv(**{**given, **others}).numpy()
    return result


def test_pairs_lead_from_their_first_row_to_the_second(vendor: Vendor) -> None:
    pairs = np.array([[[0, 1], [2, 2]]], np.int32)
    assert convolved(vendor, pairs, [2], 3).tolist() == [[0], [0], [22]]
    assert convolved(vendor, pairs[:, ::-1].copy(), [2], 3, _inverse=1).tolist() == [[0], [0], [22]]


def test_both_orders_of_the_list_are_read(vendor: Vendor) -> None:
    pairs = np.full((3, 2, 2), -1, np.int32)
    pairs[0, :, 0], pairs[2, :, 0] = (0, 1), (1, 1)
    for given in (pairs, np.ascontiguousarray(pairs.swapaxes(0, 1))):
        assert convolved(vendor, given, [1, 0, 1]).tolist() == [[0], [42]]
    two = np.array([[[0, -1], [1, -1]], [[1, -1], [0, -1]]], np.int32)
    assert convolved(vendor, two, [1, 1]).tolist() == [[30], [2]], "cells come first where both fit"


def test_the_middle_of_a_submanifold_is_not_read(vendor: Vendor) -> None:
    pairs = np.array([[[0, -1], [1, -1]], [[99, 99], [99, 99]]], np.int32)
    # Cells with factors 2 and 3; the second one maps every row to itself.
    assert convolved(vendor, pairs, [1, 2], _subM=1).tolist() == [[3], [32]]


@pytest.mark.parametrize(
    ("pairs", "counts", "others", "message"),
    [
        (ONE_CELL, [3], {}, "row -1 at position 2 of indicePairs is out of range"),
        (ONE_CELL + 1, [2], {}, r"row 2 at position 1 of indicePairs is out of range \[0, 2\)"),
        (ONE_CELL, [4], {}, "4 pairs at position 0 of indiceNum: the capacity is 3"),
        (ONE_CELL, [-1], {}, "-1 pairs at position 0"),
        (ONE_CELL, [2], {"numActOut": -1}, "numActOut is -1"),
        (
            ONE_CELL,
            [2],
            {"numActOut": 3, "_subM": 1},
            "numActOut is 3; a submanifold convolution needs the rows of features, 2",
        ),
        (ONE_CELL, [2, 0], {}, r"indicePairs has the shape \[1, 2, 3\]; it needs \[2, 2, \*\]"),
        (ONE_CELL[0], [2], {}, "indicePairs has the shape"),
    ],
)
def test_bad_pairs_are_reported(
    vendor: Vendor, pairs: Array, counts: list[int], others: dict[str, Any], message: str
) -> None:
    with pytest.raises(OperatorError, match=message):
        convolved(vendor, pairs, counts, **others)


def test_filters_have_to_fit(vendor: Vendor) -> None:
    for shape, message in (
        ((2, 1, 1), "filters have 2 cells, but indiceNum has 1"),
        ((1, 3, 1), "the last two dimensions of filters must be the columns of features, 1,"),
        ((1,), "the last two dimensions of filters"),
    ):
        filters = out_like(vendor, shape, "float64")
        with pytest.raises(OperatorError, match=message):
            convolved(vendor, ONE_CELL, [2], filters=filters)


def test_bad_rows_of_a_pool_are_reported(vendor: Vendor) -> None:
    features = out_like(vendor, (2, 3), "float32")
    pairs, counts = vendor.tensor(ONE_CELL), vendor.tensor(np.array([2], np.int32))
    with pytest.raises(OperatorError, match=r"row 1 at position 0 of .* out of range \[0, 1\)"):
        vendor.op.IndiceMaxpoolMmcv(features, pairs, counts, 1)
    with pytest.raises(OperatorError, match="numAct is -1"):
        vendor.op.IndiceMaxpoolMmcv(features, pairs, counts, -1)
    with pytest.raises(OperatorError, match=r"outGrad has the shape \[1, 3\]; it needs \[2, 3\]"):
        vendor.op.IndiceMaxpoolBackwardMmcv(
            features, features, out_like(vendor, (1, 3), "float32"), pairs, counts
        )
