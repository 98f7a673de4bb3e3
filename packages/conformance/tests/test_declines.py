"""Reports name what a library declines, in its own words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dl_conformance.outcome import Outcome
from dl_conformance.page import page
from dl_conformance.results import Results
from test_adapted import library

WORDS = "float64 is not supported"
NAME = "diopiAdd[float64-3x41]"


def declined(operator: str, words: str, number: int = 0) -> Outcome:
    name = f"{operator}[float64-{number}]"
    return Outcome(name, operator, "float64", "unsupported", "diopiDtypeNotSupported", words)


def results(*outcomes: Outcome) -> Results:
    found = Results()
    for outcome in outcomes:
        found.add(outcome)
    return found


def test_the_summary_counts_cases_by_the_librarys_words() -> None:
    absent = Outcome("diopiSin[float64-5]", "diopiSin", "float64", "unsupported", "not implemented")
    found = results(
        declined("diopiSub", ""),
        declined("diopiAdd", WORDS, 1),
        absent,
        declined("diopiAdd", WORDS, 2),
    )
    assert found.text({}, 1).splitlines()[:-1] == [
        f"diopiAdd: declined: {WORDS} (diopiDtypeNotSupported): 2 cases, such as "
        "diopiAdd[float64-1]",
        "diopiSub: declined: diopiDtypeNotSupported: 1 cases, such as diopiSub[float64-0]",
    ]


def test_many_reasons_are_cut_off_in_the_summary_only() -> None:
    found = results(*(declined(f"diopiOp{number}", WORDS) for number in range(14)))
    lines = found.text({}, 1).splitlines()
    assert len(lines) == 12 and lines[10] == "4 more reasons for declined calls: --json has all"
    assert len(found.declines()) == 14


def test_the_page_and_junit_show_the_words() -> None:
    found = results(declined("diopiAdd", "<b>no\x1b float64"))
    text = page([found.as_dict({"name": "x"}, 1)])
    assert "What x declines" in text and "&lt;b&gt;no" in text
    skipped = ElementTree.fromstring(found.junit({}, 1).split("\n", 1)[1]).find(".//skipped")
    assert skipped is not None
    assert skipped.get("message") == "unsupported diopiDtypeNotSupported: <b>no? float64"
    assert "declines" not in page([results(Outcome(NAME, "a", "b", "passed")).as_dict({}, 1)])


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library(tmp_path_factory.mktemp("narrow"), "-DWORDS")


def test_words_of_a_library_reach_its_report(narrow: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    command = [sys.executable, "-m", "dl_conformance", "--library", str(narrow), "--fname", "Add"]
    done = subprocess.run(
        [*command, "--only-dtype", "float64", "--json", str(file)], capture_output=True, text=True
    )
    assert f"diopiAdd: declined: {WORDS} (diopiDtypeNotSupported): " in done.stdout
    cases = [x for x in json.loads(file.read_text())["cases"] if x["status"] == "unsupported"]
    assert cases and {x["detail"] for x in cases} == {WORDS}


def test_words_of_a_library_reach_pytest(narrow: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "--pyargs", "dl_conformance"]
    options = ["--library", str(narrow), "--fname", "Add", "--only-dtype", "float64"]
    # The settings of this repository's own tests do not apply there.
    env = {**os.environ, "PYTEST_ADDOPTS": ""}
    where = {"cwd": narrow.parent, "env": env}
    done = subprocess.run([*command, *options], **where, capture_output=True, text=True)
    assert f"unsupported: {WORDS} (diopiDtypeNotSupported)" in done.stdout
