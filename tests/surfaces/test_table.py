"""The page of interfaces matches the table, and the table names existing tests."""

from __future__ import annotations

import pytest

from .table import PAGE, Row, page, read


def test_the_page_is_that_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m surfaces.record` in tests/"


def test_every_row_is_held_by_tests_or_says_why_not() -> None:
    assert [x for rows in read().values() for row in rows for x in row.mistakes()] == []


@pytest.mark.parametrize(
    "row",
    [
        Row("a", "worked", tests=("surfaces/test_table.py::test_mistakes_are_found",)),
        Row("a", "works"),
        Row("a", "works", tests=("surfaces/test_table.py::test_that_is_not_there",)),
        Row("a", "works", tests=("surfaces/test_nowhere.py::test_a",)),
        Row("a", "missing"),
        Row("a", "missing", "why", ("surfaces/test_table.py::test_mistakes_are_found",)),
    ],
)
def test_mistakes_are_found(row: Row) -> None:
    assert len(row.mistakes()) == 1
