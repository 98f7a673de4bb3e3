"""Crashes, hangs and overruns are reported as such, and all other cases run."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

OPERATORS = ("Abs", "Sin", "Cos", "Tan", "Floor", "Exp", "Log")


def suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dl_conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def report(library: Path) -> dict[str, Any]:
    """Run the cases of one shape for each operator, and return the output and the report."""
    file, junit = library.with_suffix(".json"), library.with_suffix(".xml")
    names = [part for name in OPERATORS for part in ("--fname", name)]
    options = ("--library", str(library), *names, "-k", "[float32-5]", "--seconds", "2")
    done = suite(*options, "--json", str(file), "--junit", str(junit), "--jobs", "2")
    assert done.returncode == 1, done.stderr
    assert "1 passed, 6 failed" in done.stdout
    assert ElementTree.parse(junit).getroot().get("failures") == "6"
    read: dict[str, Any] = json.loads(file.read_text())
    return read


def test_each_operator_has_its_own_cause(report: dict[str, Any]) -> None:
    causes = {case["operator"]: case.get("cause", case["status"]) for case in report["cases"]}
    assert causes == {
        "diopiAbs": "passed",
        "diopiSin": "crash: SIGSEGV",
        "diopiCos": "hang: longer than 2 s",
        "diopiTan": "crash: SIGABRT",
        "diopiFloor": "StrayWriteError",
        "diopiExp": f"crash: signal {signal.SIGRTMIN + 5}",
        "diopiLog": "the library wrote to the pipe that carries the worker's results",
    }


def test_report_path_is_required(report: dict[str, Any]) -> None:
    details = {case["operator"]: case.get("detail", "") for case in report["cases"]}
    assert "after the end of out" in details["diopiFloor"]
    for name in ("diopiSin", "diopiCos", "diopiTan"):
        assert "call.py" in details[name]


def test_failed_cases_run_again_alone(library: Path, report: dict[str, Any]) -> None:
    file = library.with_name("again.json")
    # Mark outcomes of the earlier run, to recognize those that are retained.
    cases = [{**x, "detail": "of the earlier run"} for x in report["cases"]]
    file.write_text(json.dumps({**report, "cases": cases}))
    options = ("--library", str(library), "--fname", "Sin", "--json", str(file), "--rerun-failed")
    done = suite(*options)
    assert done.returncode == 1
    assert "1 of 6 failed cases ran again: 1 failed\n" in done.stdout
    assert "1 passed, 6 failed" in done.stdout
    again = json.loads(file.read_text())
    assert {x["name"] for x in again["cases"]} == {x["name"] for x in report["cases"]}
    assert again["counts"] == report["counts"]
    fresh = [x["name"] for x in again["cases"] if x["detail"] != "of the earlier run"]
    assert fresh == ["diopiSin[float32-5]"]


def test_new_outcomes_replace_earlier_ones(library: Path, report: dict[str, Any]) -> None:
    file = library.with_name("mended.json")
    cases = [
        {**x, "status": "failed", "cause": "earlier"} if x["operator"] == "diopiAbs" else x
        for x in report["cases"]
    ]
    cases = [x for x in cases if x["operator"] != "diopiCos"]
    file.write_text(json.dumps({**report, "cases": cases, "counts": {"failed": 6}}))
    options = ("--library", str(library), "--fname", "Abs", "--json", str(file), "--rerun-failed")
    done = suite(*options)
    assert "1 of 6 failed cases ran again: 0 failed\n" in done.stdout
    assert done.returncode == 1
    again = json.loads(file.read_text())
    assert (again["counts"]["passed"], again["counts"]["failed"]) == (1, 5)
    assert len(again["cases"]) == 6 and "earlier" not in file.read_text()
    assert again["operators"]["diopiAbs"]["float32"]["passed"] == 1


def test_where_nothing_failed_nothing_runs_again(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    options = ("--library", str(library), "--fname", "Abs", "-k", "[float32-5]")
    assert suite(*options, "--json", str(file)).returncode == 0
    before = file.read_text()
    done = suite(*options, "--json", str(file), "--rerun-failed")
    said = f"nothing failed in {file}: there is nothing to run again\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    assert file.read_text() == before


def test_failures_outside_of_the_selection_do_not_run_again(
    library: Path, report: dict[str, Any]
) -> None:
    file = library.with_name("others.json")
    text = json.dumps(report)
    file.write_text(text)
    options = ("--library", str(library), "--fname", "Abs", "--json", str(file), "--rerun-failed")
    done = suite(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--fname Abs and --rerun-failed choose no case together" in done.stderr
    assert file.read_text() == text


def test_failures_of_another_library_do_not_run_again(
    library: Path, report: dict[str, Any], tmp_path: Path
) -> None:
    file, other = library.with_name("of-it.json"), tmp_path / "libother.so"
    file.write_text(json.dumps(report))
    shutil.copy(library, other)
    done = suite("--library", str(other), "--json", str(file), "--rerun-failed")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"it is a report of {library}; test that library" in done.stderr


def test_known_failure_that_passes_fails_the_run(library: Path) -> None:
    known = library.with_name("known.txt")
    known.write_text("# a cause\ndiopiAbs[float32-5]\n")
    options = ("--library", str(library), "--known-failures", str(known))
    done = suite(*options, "--case", "diopiAbs[float32-5]")
    assert done.returncode == 1
    assert "passes: remove it" in done.stdout


def test_known_failure_that_names_no_case_is_refused(library: Path) -> None:
    known = library.with_name("unknown.txt")
    known.write_text("diopiAbs[nothing]\n")
    done = suite("--library", str(library), "--known-failures", str(known), "--fname", "Abs")
    assert done.returncode == 2
    assert "unknown case 'diopiAbs[nothing]'" in done.stderr


def test_file_that_is_not_a_library_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "not.so"
    file.write_text("text")
    done = suite("--library", str(file), "--fname", "Abs")
    assert done.returncode == 2
    assert "is not an ELF file" in done.stderr


def test_unknown_operator_is_refused() -> None:
    done = suite("--list", "--fname", "Nope")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no such operator" in done.stderr
