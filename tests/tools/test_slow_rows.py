"""Tests of the list of slow benchmark rows and their causes."""

from __future__ import annotations

from tools.slow_rows import check_results, check_rows

ROWS = [
    {"operator": "sort", "dtype": "float32", "size": "small", "ratio": 1.3},
    {"operator": "sort", "dtype": "bfloat16", "size": "small", "ratio": 1.11},
    {"operator": "add", "dtype": "float32", "size": "small", "ratio": 1.1},
    {"operator": "mm", "dtype": "float32", "size": "small", "ratio": None},
]


def causes(*patterns: str, cause: str = "it is simple") -> list[dict[str, object]]:
    return [{"cause": cause, "rows": [pattern]} for pattern in patterns]


def test_each_slow_row_of_the_committed_results_has_a_cause() -> None:
    assert list(check_results()) == []


def test_causes_match_rows_by_patterns() -> None:
    assert list(check_rows(ROWS, causes("sort * small"))) == []


def test_a_slow_row_without_a_cause_is_reported() -> None:
    (message,) = check_rows(ROWS, causes("sort float32 *"))
    assert message == (
        "sort bfloat16 small: takes 1.11 times its peer's time and has no cause; it needs one"
    )


def test_a_slow_row_with_two_causes_is_reported() -> None:
    (message,) = check_rows(ROWS, causes("sort * small", "sort float32 *"))
    assert message.startswith("sort float32 small: ") and "has 2 causes" in message


def test_a_cause_without_a_slow_row_is_reported() -> None:
    (message,) = check_rows(ROWS, causes("sort * *", "add * *"))
    assert message == "add * *: no row is slower than 1.1; remove the pattern"


def test_an_empty_cause_is_reported() -> None:
    (message,) = check_rows(ROWS, causes("sort * *", cause=" "))
    assert message.startswith("sort * *: the cause is empty")
