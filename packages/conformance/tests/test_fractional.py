"""A number that is truncated is found, whatever its operator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto.schema import load
from dl_conformance.case import Case
from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.fractional import numbers_of, untested_numbers
from dl_conformance.reference import as_expected
from test_adapted import library, report

CASES = [
    case
    for name in load()
    for case in cases_of(name)
    if case.name.startswith(f"{name}[float32-fractional-")
]
# No random element equals either number; the base of the angles, 10,000, hardly changes them.
SAME = {
    *("diopiEqInpScalar", "diopiNeInpScalar"),
    *("diopiFusedContextAttentionInp", "diopiFusedDecoderAttentionInp"),
}


def test_every_number_has_a_fraction_in_some_case() -> None:
    missing = [(name, untested_numbers(load()[name], cases_of(name))) for name in load()]
    assert [each for each in missing if each[1]] == []
    assert {"diopiAdd", "diopiSubInp", "diopiAddmm", "diopiAddcmul", "diopiBaddbmm"} <= {
        case.operator for case in CASES
    }


def arrays(value: Any) -> Iterator[np.ndarray]:
    for each in value if isinstance(value, list) else [value]:
        if each is not None:
            yield np.asarray(as_expected(each).value)


def differs(case: Case) -> bool:
    """Return True if the result depends on the fractions of the numbers."""
    inputs = CaseInputs(case)
    right = inputs.expected()
    for name in numbers_of(load()[case.operator]):
        if isinstance(inputs.wide.get(name), float):
            inputs.wide[name] = float(int(inputs.wide[name]))
    wrong = inputs.expected()
    return any(
        not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-3, equal_nan=True)
        for name in right
        for a, b in zip(arrays(right[name]), arrays(wrong[name]), strict=True)
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)
def test_truncated_numbers_change_the_result(case: Case) -> None:
    assert differs(case) == (case.operator not in SAME)


def test_vendor_that_truncates_alpha_fails(tmp_path: Path) -> None:
    wrong = library(tmp_path, "-DTRUNCATES")
    _, found = report(wrong, tmp_path, None, "Add", code=1)
    failed = [case["name"] for case in found["cases"] if case["status"] == "failed"]
    assert failed == ["diopiAdd[float32-fractional-3x41-3x41-alpha=1.25]"]
