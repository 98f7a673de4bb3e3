"""The figures of vendors are computed from all reports."""

from __future__ import annotations

from typing import Any

import pytest

from tools.figures import BEGIN, figures, part, table
from tools.generated_part import END, with_part

SUITE: dict[str, Any] = {
    "counts": {"passed": 2, "failed": 1, "unsupported": 1, "skipped": 0, "unchecked": 1},
    "cases": [
        {"operator": "diopiAdd", "status": "passed"},
        {"operator": "diopiAdd", "status": "failed"},
        {"operator": "diopiSub", "status": "unsupported"},
        {"operator": "diopiMul", "status": "unchecked"},
        {"operator": "runtime", "status": "passed"},
    ],
}
KINDS = {"native": {"count": 2}, "composed": {"count": 1}, "fallback": {"count": 1}}
COVERAGE = {"devices": [{"vendor": "toy", "tiers": {"A": KINDS, "B": KINDS}}]}


def test_operators_count_where_numbers_were_compared() -> None:
    found = figures("toy", 3, SUITE, COVERAGE)
    assert (found.present, found.verified) == (2, 1)
    assert found.tiers == {"A": (3, 4), "B": (3, 4)}
    shown = table([found])
    assert "| operators of the contract | 2 of 3 |" in shown
    assert "| … that passed with numbers compared | 1 |" in shown
    assert "(tier A) | 75.0 % of 4 |" in shown


def test_reports_of_a_part_are_refused() -> None:
    with pytest.raises(ValueError, match="cases of 3 of 4"):
        figures("toy", 4, SUITE, COVERAGE)
    with pytest.raises(ValueError, match="no device of other"):
        figures("other", 3, SUITE, COVERAGE)


def test_only_what_is_between_the_marks_changes() -> None:
    new = part([figures("toy", 3, SUITE, COVERAGE)])
    text = f"before\n{BEGIN}\nold\n{END}\nother\n{END}\n"
    assert with_part(text, new) == f"before\n{new}\nother\n{END}\n"
    for wrong in ("nothing", text + text):
        with pytest.raises(ValueError, match="one part between"):
            with_part(wrong, new)
