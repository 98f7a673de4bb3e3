"""Libraries that do nothing useful pass no case that checks anything.

Tensors that they take from other operators are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from diopi_proto import Vendor
from dl_conformance.case import Case
from dl_conformance.catalog import all_cases, in_sample
from dl_conformance.execution import CaseInputs, run
from dl_conformance.reference import as_expected
from dl_conformance.target import of_vendor
from faults import Faulty, copy_first_input, nothing


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with of_vendor("cpu")[0].load() as loaded:
        yield loaded


@pytest.fixture(scope="module")
def sample() -> list[Case]:
    # Calls of models are large.
    small = [case for case in all_cases() if not case.models]
    found = [case for case in small if in_sample(case.name, 10, 1)]
    assert len({case.operator for case in found}) > 100
    return found


def test_library_that_writes_nothing_passes_no_case(vendor: Vendor, sample: list[Case]) -> None:
    counts = Counter(run(Faulty(vendor, {case.operator: nothing}), case).status for case in sample)
    assert counts["passed"] == 0
    assert counts["failed"] > 1000


def test_copy_of_the_first_input_passes_only_where_it_is_right(
    vendor: Vendor, sample: list[Case]
) -> None:
    outcomes = [run(Faulty(vendor, {case.operator: copy_first_input}), case) for case in sample]
    passed = [case for case, x in zip(sample, outcomes, strict=True) if x.status == "passed"]
    assert [case.name for case in passed if not _is_first_input(vendor, case)] == []
    assert sum(x.status == "failed" for x in outcomes) > 1000


def _is_first_input(vendor: Vendor, case: Case) -> bool:
    """Return True if the expected outputs equal the first input."""
    inputs = CaseInputs(case)
    want = inputs.expected()
    flat = [y for x in inputs.wide.values() for y in (x if isinstance(x, list) else [x])]
    first = next(x for x in flat if isinstance(x, np.ndarray))
    for value in want.values():
        for each in value if isinstance(value, list) else [value]:
            one = np.asarray(as_expected(each).value)
            kind = first.dtype.kind in "fc"
            if not np.array_equal(first, one.astype(first.dtype), equal_nan=kind):
                return False
    return True
