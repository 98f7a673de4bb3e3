"""Runs in parts and their record: a crash loses no results, and every cause is genuine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dl_torch_tests.device.kinds import KINDS
from dl_torch_tests.device.known_failures import CRASHES, SHARED, SOME_PROCESSORS, known_on
from dl_torch_tests.device.run import Result, results_in, unexpected
from dl_torch_tests.opinfo.known_failures import parse
from dl_torch_tests.vendor_lists import VendorLists

from .causes import UNEXPLAINED
from .page import with_section
from .record import failures_in, lines_of, read, write

EXP, SIN = ("exp", "forward", "float32"), ("sin", "forward", "float32")


def result(
    key: tuple[str, str, str], problem: str | None = None, *, crashed: bool = False
) -> Result:
    return Result(key, problem, 1, 0.0, crashed)


def test_the_test_in_which_a_process_ended_is_named() -> None:
    ended = {"outcome": "passed", "problem": None, "compared": 3, "seconds": 0.1, "said": ""}
    lines = [{"collected": 2}, {"key": EXP}, ended, {"start": "sin"}, {"key": SIN}]
    first, last = results_in([json.dumps(line) for line in lines])
    assert (first.key, first.problem, first.crashed) == (EXP, None, False)
    assert (last.key, last.crashed) == (SIN, True)


def test_facts_of_a_test_are_kept() -> None:
    ended = {"outcome": "passed", "problem": None, "compared": 3, "seconds": 0.1, "said": ""}
    lines = [{"key": EXP}, ended | {"facts": {"losses": [2.0, 1.0]}}]
    (only,) = results_in([json.dumps(line) for line in lines])
    assert only.facts == {"losses": [2.0, 1.0]}


CRASHING = """
import os
import pytest

class Case:
    def __init__(self, at):
        self.key = (f"at{at}", "forward", "float32")

@pytest.mark.parametrize("case", map(Case, range(4)))
def test_case(case):
    if case.key[0] == "at1":
        os.abort()
"""


def test_a_crash_costs_one_test(tmp_path: Path) -> None:
    """With the runner itself, in child processes."""
    (tmp_path / "test_crashing.py").write_text(CRASHING)
    script = (
        "import sys\nfrom pathlib import Path\nfrom dl_torch_tests.device.run import run_part\n"
        "for r in run_part('0/1', Path(sys.argv[1]), [sys.argv[1]]):\n"
        "    print(r.key[0], 'crashed' if r.crashed else r.problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["at0 None", "at1 crashed", "at2 None", "at3 None"]


@pytest.mark.parametrize(
    ("found", "listed", "said"),
    [
        (result(EXP), {}, None),
        (result(EXP), {EXP: "rounds twice"}, "passes now"),
        (result(EXP), {EXP: SOME_PROCESSORS + "rounds twice"}, None),
        (result(EXP, "off by 1"), {EXP: SOME_PROCESSORS + "rounds twice"}, None),
        (result(EXP, "ended", crashed=True), {EXP: SOME_PROCESSORS + "rounds twice"}, "ended"),
        (result(EXP, "off by 1"), {}, "off by 1"),
        (result(EXP, "off by 1"), {EXP: "rounds twice"}, None),
        (result(EXP, "ended", crashed=True), {EXP: "rounds twice"}, "ended"),
        (result(EXP, "ended", crashed=True), {EXP: CRASHES + "reads out of bounds"}, None),
        (result(EXP, "off by 1"), {EXP: CRASHES + "reads out of bounds"}, "off by 1"),
    ],
)
def test_a_result_is_held_against_the_list(
    found: Result, listed: dict[tuple[str, str, str], str], said: str | None
) -> None:
    told = unexpected(found, listed)
    assert told is None if said is None else told is not None and said in told


def test_known_causes_stay_and_others_are_asked_for() -> None:
    results = [
        result(EXP, "off by 1"),
        result(SIN, "off | by 2"),
        result(("narrow_copy", "errors", "bool"), "dl raises IndexError"),
    ]
    failures = failures_in(results, {EXP: "rounds twice"})
    assert failures[EXP] == "rounds twice"
    assert failures[SIN] == f"{UNEXPLAINED}off / by 2"
    assert failures["narrow_copy", "errors", "bool"].startswith("an index out of range")


def test_what_fails_in_every_dtype_takes_one_line(tmp_path: Path) -> None:
    double = (*EXP[:2], "float64")
    results = [result(EXP, "off"), result(double, "off"), result(SIN, "off")]
    failures = dict.fromkeys((each.key for each in results), "rounds twice")
    write(tmp_path / "list.txt", "#", lines_of(failures, results))
    assert read(tmp_path / "list.txt") == {
        ("exp", "forward", "*"): "rounds twice",
        SIN: "rounds twice",
    }


def test_the_page_keeps_other_vendors() -> None:
    page = with_section("", "one", [result(EXP), result(SIN, "off")], {SIN: "rounds twice"})
    assert "1 of 2 tests pass: 50.00%" in page
    both = with_section(page, "two", [result(EXP)], {})
    assert both.count("## Vendor") == 2
    again = with_section(both, "one", [result(EXP)], {})
    assert again.count("## Vendor") == 2 and "rounds twice" not in again


def test_the_list_explains_every_failure(vendor: str, lists: VendorLists) -> None:
    listed = known_on(vendor, lists) | parse(
        SHARED.read_text(encoding="utf-8"), SHARED.name, tuple(KINDS)
    )
    assert [key for key, cause in listed.items() if cause.startswith(UNEXPLAINED)] == []
