"""A profile that names what does not exist is refused: nothing would be tested for it."""

from __future__ import annotations

import re

import pytest

from dl_conformance.promises import check_promises
from dl_conformance.target import TargetError


def test_operators_and_dtypes_of_the_contract_are_accepted() -> None:
    check_promises("npu", {"diopiAdd": ("float32", "int64"), "runtime": ()})


@pytest.mark.parametrize(
    ("promised", "message"),
    [
        ({"diopiFil": ("float32",)}, "--profile npu: diopiFil is not an operator; did you mean:"),
        ({"diopiFill": ("flaot32",)}, "diopiFill: flaot32 is not a dtype; did you mean: float32"),
    ],
    ids=["operator", "dtype"],
)
def test_unknown_names_are_refused(promised: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(TargetError, match=re.escape(message)):
        check_promises("npu", promised)
