"""Rounding to integers."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import Step, check_limits, check_step
from support import FLOATS, LAYOUTS, check, out_like, place

STEPS = {"Floor": Step(np.floor, FLOATS), "Ceil": Step(np.ceil, FLOATS)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, s in STEPS.items() for d in s.dtypes])
def test_step_is_exact(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_step(vendor, name, STEPS[name], dtype, layout)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    check_limits(vendor, "Floor", STEPS["Floor"].reference, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_halves_round_to_even(vendor: Vendor, dtype: str) -> None:
    x, values = place(vendor, np.arange(-20, 21) / 4, dtype)
    out = out_like(vendor, (41,), dtype)
    vendor.op.dlopRound(out, x)
    check(out, np.rint(values), OpClass.EXACT, "dlopRound")
    assert out.float32()[[14, 18, 22, 26]].tolist() == [-2, -0, 0, 2]
