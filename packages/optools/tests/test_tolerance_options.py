"""Variables that replace the bound, or the reference's dtype."""

from __future__ import annotations

import pytest
import torch

from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.options import OptionError

TOLERANCE = "AUTOCOMPARE_ERROR_TOLERANCE"
CAST = "OP_DTYPE_CAST_DICT"


def test_the_most_specific_tolerance_counts() -> None:
    options = ComparisonOptions(
        {
            TOLERANCE: "1,2",
            f"{TOLERANCE}_FLOAT16": "3,4",
            f"LINEAR_{TOLERANCE}_FLOAT16": "5,6",
            f"ADD_{TOLERANCE}_BFLOAT16": "7,8",
        }
    )
    linear, add = "torch.nn.functional.linear", "aten.add.Tensor"
    assert options.tolerance(linear, torch.float32) == (1, 2)
    assert options.tolerance(add, torch.float16) == (3, 4)
    assert options.tolerance(linear, torch.float16) == (5, 6)
    assert options.tolerance(add, torch.bfloat16) == (7, 8)
    assert options.tolerance("torch.Tensor.add_", torch.bfloat16) == (7, 8)


def test_without_variables_the_bound_counts() -> None:
    options = ComparisonOptions({TOLERANCE: " ", "PATH": "x"})
    assert options.tolerance("aten.add.Tensor", torch.float32) is None
    assert options.casts("aten.add.Tensor") == {}


def test_casts() -> None:
    options = ComparisonOptions(
        {CAST: "torch.float16->torch.float32", f"LINEAR_{CAST}": "bfloat16->float64"}
    )
    assert options.casts("aten.add.Tensor") == {torch.float16: torch.float32}
    assert options.casts("aten.linear.default") == {torch.bfloat16: torch.float64}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (TOLERANCE, "1e-3"),
        (TOLERANCE, "1,2,3"),
        (f"ADD_{TOLERANCE}_FLOAT32", "-1,0"),
        (TOLERANCE, "a,b"),
        (CAST, "float16"),
        (f"ADD_{CAST}", "float16->float33"),
    ],
)
def test_values_that_do_not_fit(name: str, value: str) -> None:
    with pytest.raises(OptionError, match=name):
        ComparisonOptions({name: value})
