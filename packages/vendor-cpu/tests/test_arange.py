"""Tests of arithmetic sequences."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import FLOATS, NUMBERS, check, out_like


@pytest.mark.parametrize("dtype", NUMBERS)
def test_arange(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (11,), dtype)
    vendor.op.Arange(out, 3, 36, 3)
    check(out, np.arange(3, 36, 3), OpClass.EXACT, "Arange")


@pytest.mark.parametrize("dtype", FLOATS)
def test_arange_of_floats_does_not_drift(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (2000,), dtype)
    vendor.op.Arange(out, 0.5, 600.5, 0.3)
    want = np.longdouble(0.5) + np.arange(2000) * np.longdouble(0.3)
    check(out, want, OpClass.ELEMENTARY, "Arange")


@pytest.mark.parametrize("dtype", FLOATS)
def test_linspace_ends_are_exact(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (7,), dtype)
    vendor.op.Linspace(out, 0.1, 0.7, 7)
    check(
        out, np.linspace(np.longdouble(0.1), np.longdouble(0.7), 7), OpClass.ELEMENTARY, "Linspace"
    )
    one = out_like(vendor, (1,), dtype)
    vendor.op.Linspace(one, 3, 9, 1)
    assert one.float32().tolist() == [3.0]


def test_cases_of_grids(vendor: Vendor) -> None:
    check_cases(vendor, "diopiMeshGrid")


def test_grids_of_what_is_no_line(vendor: Vendor) -> None:
    out = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiMeshGrid\] inputs\[0\] has 2 dimensions"):
        vendor.op.MeshGrid([out, out], [out, out])
