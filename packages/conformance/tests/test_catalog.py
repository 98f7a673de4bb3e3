"""The catalog has every call of the modules of cases, including calls with equal names."""

from __future__ import annotations

import importlib
from collections import defaultdict

from dl_conformance.case import Case, T
from dl_conformance.catalog import case_modules, cases_of, cases_of_family
from dl_conformance.reference import family_of_module


def test_no_call_takes_the_place_of_another() -> None:
    written: dict[str, set[str]] = defaultdict(set)
    for module in case_modules():
        content = importlib.import_module(f"dl_conformance.cases.{module}")
        for calls in content.CASES:
            for case in calls.cases():
                key = repr((case.dtype, case.layout, case.edge, case.arguments, case.refusal))
                written[case.operator].add(key)
    for family in {family_of_module(module) for module in case_modules()}:
        for operator, cases in cases_of_family(family).items():
            assert len({x.name for x in cases}) == len(cases), operator
            assert len(cases) >= len(written[operator]), operator


def test_calls_with_other_elements_are_numbered() -> None:
    alike = [x for x in cases_of("diopiEqual") if x.name.startswith("diopiEqual[float32-2x3-2x3")]
    assert [_elements(x) for x in alike[:2]] == [[1, 0, 1], [1, 1, 1]]
    assert alike[1].name == alike[0].name.replace("]", "-call 2]")


def _elements(case: Case) -> list[int]:
    other = case.arguments["other"]
    assert isinstance(other, T)
    return list(other.values)
