"""Invalid options and report files are refused before the run, with a reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dl_conformance.outcome import Outcome
from dl_conformance.report_file import ReportError, check_writable, read_report, write
from dl_conformance.results import Results
from dl_conformance.target import TargetError, read_known_failures

COMMAND = (sys.executable, "-m", "dl_conformance")
PASSES, HANGS = "diopiAbs[float32-5]", "diopiCos[float32-5]"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--seconds", x) for x in ("nan", "inf", "-1", "0", "1e30", "soon")),
        *(("--jobs", x) for x in ("-1", "0", "many")),
    ],
)
def test_invalid_number_is_refused(option: str, value: str) -> None:
    done = subprocess.run([*COMMAND, "--list", f"{option}={value}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"argument {option}: " in done.stderr and value in done.stderr


def test_report_that_cannot_be_written_stops_the_run_before_it(
    library: Path, tmp_path: Path
) -> None:
    command = [*COMMAND, "--library", str(library), "--case", HANGS]
    options = ("--json", "--html", "--junit")
    names = ("", str(tmp_path), str(tmp_path / "no" / "report"))
    for option, name in zip(options, names, strict=True):
        done = subprocess.run([*command, option, name], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{name!r} is not a path for a report" in done.stderr
    for name in names:
        with pytest.raises(ReportError, match="is not a path for a report"):
            check_writable(name)


def test_full_disk_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="/dev/full cannot be written: No space left"):
        write(Path("/dev/full"), "text")
    file = tmp_path / "report"
    check_writable(str(file))
    write(file, "half of a character: \ud800")
    assert file.read_text() == "half of a character: ?"


def report() -> dict[str, Any]:
    results = Results()
    results.add(Outcome(PASSES, "diopiAbs", "float32", "passed", worst=0.25))
    results.add(Outcome(HANGS, "diopiCos", "float32", "failed", "wrong value"))
    return results.as_dict({"name": "good", "version": "1.2"}, 3.0)


FORGED: dict[str, Any] = {
    "no cases": {"cases": None},
    "a case that is not an object": {"cases": ["diopiAbs"]},
    "counts in words": {"counts": {"passed": "<script>alert(1)</script>"}},
    "seconds in words": {"seconds": "<script>alert(1)</script>"},
    "an operator in words": {"operators": {"diopiAbs": {"float32": {"passed": "<b>"}}}},
    "a vendor that is not an object": {"vendor": ["good"]},
    "models that are not names": {"models": {"llama": {"missing": 1}}},
    "conversions in words": {"conversions": {"diopiAbs": {"cast": "<b>"}}},
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_report_with_wrong_types_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report()))
    assert read_report(file) == report()
    file.write_text(json.dumps({**report(), **change}))
    with pytest.raises(ReportError, match=f"its '{next(iter(change))}' has the wrong type"):
        read_report(file)


@pytest.mark.parametrize("missing", ["vendor", "seconds", "counts", "operators", "cases"])
def test_report_that_lacks_something_is_refused(missing: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps({key: x for key, x in report().items() if key != missing}))
    with pytest.raises(ReportError, match=f"it has no '{missing}'"):
        read_report(file)


@pytest.mark.parametrize(
    "options",
    [("--reports",), ("--library", "x.so", "--rerun-failed", "--json")],
    ids=["a page", "what failed"],
)
def test_missing_report_is_named(options: tuple[str, ...], tmp_path: Path) -> None:
    file, page = tmp_path / "none.json", tmp_path / "page.html"
    command = [*COMMAND, *options, str(file), "--html", str(page)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"conformance: {file}: the report does not exist; a run writes it with --json\n"
    )
    assert not page.exists()


def test_report_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ReportError, match=f"{tmp_path} cannot be read: it is a folder, not a regular file"
    ):
        read_report(tmp_path)


@pytest.mark.parametrize("option", [("--reports", "a.json"), ("--list-models",)])
def test_list_prints_cases_only(option: tuple[str, ...]) -> None:
    done = subprocess.run([*COMMAND, "--list", *option], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be combined with --reports or --list-models" in done.stderr


@pytest.mark.parametrize("text", ["", "[]", "nothing", "[" * 100_000])
def test_file_that_is_not_a_report_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(ReportError, match="is not a report of a run"):
        read_report(file)


def test_known_failures_are_text(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_bytes(b"\xef\xbb\xbf# a cause\n" + PASSES.encode() + b"\r\n")
    assert read_known_failures(file) == {PASSES}
    with pytest.raises(TargetError, match=r"--known-failures .*: No such file"):
        read_known_failures(tmp_path / "none.txt")
    file.write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(TargetError, match="is not a list of known failures"):
        read_known_failures(file)
