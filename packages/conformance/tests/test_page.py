"""The HTML page shows the report of each vendor, and escapes all text."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dl_conformance.outcome import Outcome
from dl_conformance.page import page
from dl_conformance.results import Results


def report(name: str, *outcomes: Outcome) -> dict[str, Any]:
    results = Results()
    for outcome in outcomes:
        results.add(outcome)
    return results.as_dict({"name": name, "version": "1.2"}, 3.0)


GOOD = report(
    "good",
    Outcome("diopiAbs[float32-5]", "diopiAbs", "float32", "passed", worst=0.25),
    Outcome("diopiAbs[float32-6]", "diopiAbs", "float32", "passed", worst=0.5),
    Outcome("diopiAbs[int8-5]", "diopiAbs", "int8", "passed", worst=0.0),
    Outcome("diopiSin[float32-5]", "diopiSin", "float32", "passed", worst=0.75),
)
BAD = report(
    "bad",
    Outcome("diopiAbs[float32-5]", "diopiAbs", "float32", "passed", worst=0.25),
    Outcome("diopiAbs[float32-6]", "diopiAbs", "float32", "failed", "wrong value", "<script>", 9.0),
    Outcome("diopiAbs[int8-5]", "diopiAbs", "int8", "unsupported", "not implemented"),
    Outcome("diopiSin[float32-5]", "diopiSin", "float32", "unsupported", "not implemented"),
)


class Rows(HTMLParser):
    """Parser that collects the cells of the matrix by operator, and external references."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: dict[str, list[tuple[str, str]]] = {}
        self.classes: dict[str, str] = {}
        self.references: list[str] = []
        self.row = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.references += [x for n, x in found.items() if n in ("src", "href")]
        if tag == "tr":
            self.row = found.get("data-operator", "")
            self.classes[self.row] = found.get("class", "")
        elif tag == "td" and self.row:
            cells = self.rows.setdefault(self.row, [])
            cells.append((found["class"].removesuffix(" first"), found.get("title", "")))

    def handle_data(self, data: str) -> None:
        pass


def test_vendors_stand_side_by_side() -> None:
    found = Rows(page([GOOD, BAD]))
    kinds = {name: [kind for kind, _ in cells] for name, cells in found.rows.items()}
    # Columns: float32 and int8 of the first vendor, then of the second one.
    assert kinds["diopiAbs"] == ["cell passed", "cell passed", "cell failed", "cell unsupported"]
    assert kinds["diopiSin"] == ["cell passed", "none", "cell unsupported", "none"]
    titles = [title for _, title in found.rows["diopiAbs"]]
    assert titles[0] == "diopiAbs float32: 2 passed; worst 0.5 of its bound"
    assert titles[2] == "diopiAbs float32: 1 passed, 1 failed; worst 9 of its bound"


def test_rows_are_marked_for_the_filters() -> None:
    classes = Rows(page([GOOD, BAD])).classes
    assert (classes["diopiAbs"], classes["diopiSin"]) == ("wrong", "lacking")
    assert Rows(page([GOOD])).classes["diopiAbs"] == ""


def test_text_of_reports_is_escaped_and_nothing_is_fetched() -> None:
    text = page([GOOD, BAD])
    assert "<pre>&lt;script&gt;</pre>" in text
    assert text.count("<script>") == 1
    assert Rows(text).references == []
    assert "@import" not in text
    assert "url(" not in text


def bars(text: str) -> dict[str, str]:
    """Return the labels and counts of the bars that are not empty."""
    groups = re.findall(r"<g><title>([^<]+)</title>(.*?)</g>", text)
    values = {label: re.search(r'class="value"[^>]*>(\d+)<', drawn) for label, drawn in groups}
    return {label: value[1] for label, value in values.items() if value}


def test_bars_count_cases_by_their_worst_element() -> None:
    assert bars(page([BAD])) == {"1/4": "1", "more": "1"}


def test_wrong_element_without_a_bound_is_counted_as_wrong() -> None:
    wrong = Outcome("diopiEq[int8-5]", "diopiEq", "int8", "failed", "wrong value", worst=math.inf)
    assert bars(page([report("s", wrong)])) == {"more": "1"}


def test_operators_of_a_newer_contract_have_a_place() -> None:
    strange = report("s", Outcome("dlopNew[int8-5]", "dlopNew", "int8", "passed", worst=0.0))
    text = page([strange])
    assert "of another contract" in text
    assert [kind for kind, _ in Rows(text).rows["dlopNew"]] == ["cell passed"]


def suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dl_conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_page_of_a_run_and_of_its_report_are_the_same(tmp_path: Path) -> None:
    run, made, file = (str(tmp_path / x) for x in ("run.html", "made.html", "run.json"))
    options = ("--fname", "Abs", "-k", "float32", "--json", file, "--html", run)
    done = suite("--vendor", "cpu", *options)
    assert done.returncode == 0, done.stderr
    assert suite("--reports", file, "--html", made).returncode == 0
    rows = Rows(Path(made).read_text(encoding="utf-8")).rows
    assert rows == Rows(Path(run).read_text(encoding="utf-8")).rows
    assert [kind for kind, _ in rows["diopiAbs"]] == ["cell passed"]


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"format": 99})])
def test_file_that_is_not_a_report_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    done = suite("--reports", str(file), "--html", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert f"{file} is not a report of a run" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_reports_without_a_page_are_refused(tmp_path: Path) -> None:
    done = suite("--reports", str(tmp_path / "report.json"))
    assert done.returncode == 2
    assert "name its path with --html" in done.stderr
