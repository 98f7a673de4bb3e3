"""Tests of the statistics of batch normalization that processes exchange."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

OPERATORS = (
    *("BatchNormStats", "BatchNormGatherStatsWithCounts", "BatchNormBackwardReduce"),
    *("BatchNormBackwardElemt", "BatchNormElemt"),
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_two_processes_have_the_statistics_of_all(vendor: Vendor) -> None:
    whole = numbers((7, 3, 5), "float64", 119)
    parts = [whole[:2], whole[2:]]
    both = []
    for part in (*parts, whole):
        mean, invstd = (out_like(vendor, (3,), "float64") for _ in range(2))
        vendor.op.BatchNormStats(mean, invstd, vendor.tensor(part), 1e-5)
        both.append((mean.numpy(), invstd.numpy()))
    means, inverses = (vendor.tensor(np.stack([x[k] for x in both[:2]])) for k in range(2))
    mean, invstd = (out_like(vendor, (3,), "float64") for _ in range(2))
    counts = vendor.tensor(np.array([10, 25]))
    # A number that float32 and float64 represent alike.
    eps = float(np.float32(1e-5))
    vendor.op.BatchNormGatherStatsWithCounts(
        mean, invstd, vendor.tensor(whole), means, inverses, None, None, 0.1, eps, counts
    )
    np.testing.assert_allclose(mean.numpy(), both[2][0], rtol=1e-13)
    np.testing.assert_allclose(invstd.numpy(), both[2][1], rtol=1e-9)


def test_bad_shapes_are_reported(vendor: Vendor) -> None:
    x, wrong = out_like(vendor, (2, 3, 4), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"a tensor of channels has the shape \[4\]; it needs"):
        vendor.op.BatchNormStats(wrong, wrong, x, 1e-5)
    with pytest.raises(OperatorError, match=r"the input has 1 dimensions; it needs \[N, C, ...\]"):
        vendor.op.BatchNormStats(wrong, wrong, wrong, 1e-5)
