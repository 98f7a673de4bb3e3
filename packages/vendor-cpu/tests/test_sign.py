"""Signs and absolute values."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from functions import Step, check_step
from support import INTS, LAYOUTS, NUMBERS, numbers, out_like, with_layout

STEPS = {
    "Neg": Step(np.negative, NUMBERS),
    "Abs": Step(np.abs, NUMBERS),
    "Sign": Step(np.sign, NUMBERS, in_place=False),
    "Sgn": Step(np.sign, NUMBERS),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, s in STEPS.items() for d in s.dtypes])
def test_step_is_exact(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_step(vendor, name, STEPS[name], dtype, layout)


@pytest.mark.parametrize("dtype", INTS)
def test_abs_of_the_smallest_integer_wraps(vendor: Vendor, dtype: str) -> None:
    low = np.iinfo(dtype).min
    x = vendor.tensor(np.array([low], dtype))
    vendor.op.AbsInp(x)
    with np.errstate(over="ignore"):
        assert x.numpy()[0] == np.abs(np.array([low], dtype))[0]


def test_transposed_matrix_in_tiles(vendor: Vendor) -> None:
    source = numbers((130, 97), "float32", 6).astype(np.float32)
    out = out_like(vendor, (130, 97), "float32")
    vendor.op.Neg(out, vendor.tensor(with_layout(source, "transposed")))
    assert np.array_equal(out.numpy(), -source)
