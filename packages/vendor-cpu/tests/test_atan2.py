"""The angle of points."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, numbers, out_like, place, units_of_last_place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_angle_of_points(vendor: Vendor, dtype: str, layout: str) -> None:
    y, ys = place(vendor, numbers((5, 3, 37), dtype, 77, -9, 9), dtype, layout)
    x, xs = place(vendor, numbers((3, 37), dtype, 78, -9, 9), dtype)
    out = out_like(vendor, (5, 3, 37), dtype, layout)
    vendor.op.dlopAtan2(out, y, x)
    check(out, np.arctan2(ys, xs), OpClass.ELEMENTARY, "Atan2")


def test_error_of_angles_over_the_whole_range(vendor: Vendor) -> None:
    random = np.random.default_rng(79)
    bits = random.integers(0, 1 << 32, (2, 1_000_000), dtype=np.uint64).astype(np.uint32)
    # Half of the points are near to each other in size, where the angle is neither 0 nor π/2.
    bits[1, ::2] = (bits[0, ::2] & 0x7F800000) | (bits[1, ::2] & 0x807FFFFF)
    y, x = bits.view(np.float32)
    finite = np.isfinite(x) & np.isfinite(y)
    y, x = y[finite], x[finite]
    out = out_like(vendor, x.shape, "float32")
    vendor.op.dlopAtan2(out, vendor.tensor(y), vendor.tensor(x))
    want = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    error = np.abs(out.numpy().astype(np.float64) - want) / units_of_last_place(want)
    most = 2.0 if vendor.host_accessible else 4.0
    worst = error.argmax()
    assert error.max() <= most, f"{error.max()} at {y[worst]!r}, {x[worst]!r}"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_angles_of_special_points(vendor: Vendor, dtype: str) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40])
    y, x = (part.ravel().astype(dtype) for part in np.meshgrid(values, values))
    out = out_like(vendor, y.shape, dtype)
    vendor.op.dlopAtan2(out, vendor.tensor(y), vendor.tensor(x))
    got, want = out.numpy(), np.arctan2(y.astype(np.float64), x.astype(np.float64))
    assert np.allclose(got, want, rtol=1e-6, atol=1e-44, equal_nan=True)
    known = ~np.isnan(want)
    assert np.array_equal(np.signbit(got[known]), np.signbit(want[known]))
