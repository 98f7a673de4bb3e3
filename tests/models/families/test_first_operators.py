"""The page of the first operators ranks by the mean share of calls, and counts whole families."""

from __future__ import annotations

import re

from .first_operators import PAGE, ROWS, Calls, contract_operators, page

ROW = re.compile(r"^\| (\d+) \| (.+) \| ([\d.]+)% \| (\d+) \| ([\d.]+)% \| (\d+) \| (.*) \|$")


def calls(**counts: int) -> Calls:
    found = Calls()
    for name, count in counts.items():
        found.add(f"`{name}`", f"aten_{name}", count)
    return found


def rows(text: str) -> list[tuple[str, ...]]:
    return [found.groups() for line in text.splitlines() if (found := ROW.match(line))]


def test_families_count_alike_whatever_their_number_of_calls() -> None:
    text = page([calls(a=1, b=1), calls(a=600, c=400), Calls()])
    assert "of 2 model families" in " ".join(text.split())
    assert rows(text) == [
        ("1", "`a`", "55.0", "2", "55.0", "0", "`aten_a`"),
        ("2", "`b`", "25.0", "1", "80.0", "1", "`aten_b`"),
        ("3", "`c`", "20.0", "1", "100.0", "2", "`aten_c`"),
    ]


def test_operators_are_those_of_the_contract() -> None:
    operators = contract_operators()
    assert operators["add.Tensor"] == "`diopiAdd`, `diopiAddScalar`"
    assert operators["mm"] == "`diopiMm`"


def test_the_published_page_has_all_rows() -> None:
    found = rows(PAGE.read_text(encoding="utf-8"))
    assert [row[0] for row in found] == [str(number + 1) for number in range(ROWS)]
    shares = [float(row[2]) for row in found]
    assert shares == sorted(shares, reverse=True)
    assert {name for row in found for name in row[1].split(", ")} <= {
        name for shown in contract_operators().values() for name in shown.split(", ")
    }
