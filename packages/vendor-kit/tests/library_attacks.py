"""Runs of the generator on invalid data: what it reports, and that it leaves all files alone."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from dl_vendor_kit.library.__main__ import main

FINDING = re.compile(r"[^:]+:[1-9][0-9]*: [^:].*?: .*\S")
SUMMARY = re.compile(r"[1-9][0-9]*( or more)? findings?; nothing is written")


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return the contents of all files below a folder; None stands for other entries."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def run(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Run the generator and return its status and the lines of its error output."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        status = main([str(folder), *options])
    return status, errors.getvalue().split("\n")[:-1]


def refused(folder: Path) -> str:
    """Run the generator on data that it must refuse, and return its findings.

    Each finding is one printable line, and no file changes.
    """
    before = contents(folder.parent)
    status, lines = run(folder)
    assert status == 1, "the data is accepted"
    assert contents(folder.parent) == before, "a file has changed"
    findings = [line for line in lines if not SUMMARY.fullmatch(line)]
    assert findings
    for line in findings:
        assert FINDING.fullmatch(line) and line.isprintable() and len(line) < 5000, line
    return "\n".join(findings)
