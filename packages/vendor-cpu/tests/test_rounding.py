"""Rounding to integers."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from functions import Step, check_limits, check_step
from support import FLOATS, LAYOUTS

STEPS = {"Floor": Step(np.floor, FLOATS), "Ceil": Step(np.ceil, FLOATS)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, s in STEPS.items() for d in s.dtypes])
def test_step_is_exact(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_step(vendor, name, STEPS[name], dtype, layout)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    check_limits(vendor, "Floor", STEPS["Floor"].reference, dtype)
