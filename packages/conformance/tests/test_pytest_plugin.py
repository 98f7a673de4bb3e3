"""Under pytest, cases pass, fail, crash and are expected to fail as with the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHOSEN = ("--fname", "Abs", "--fname", "Sin", "-k", "float32-5]", "--seconds", "5")


def suite(*options: str) -> subprocess.CompletedProcess[str]:
    plain = ("-q", "-rA", "-p", "no:cacheprovider", "--pyargs", "dl_conformance", *options)
    command = [sys.executable, "-m", "pytest", *plain]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_case_is_a_test(library: Path) -> None:
    done = suite("--library", str(library), *CHOSEN)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "test_case[diopiAbs[float32-5]]" in done.stdout
    assert "crash: SIGSEGV" in done.stdout


def test_known_failure_is_an_expected_failure_of_pytest(library: Path) -> None:
    known = library.with_name("known-to-pytest.txt")
    known.write_text("diopiSin[float32-5]\n")
    done = suite("--library", str(library), "--known-failures", str(known), *CHOSEN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "1 xfailed" in done.stdout


def test_nothing_to_test_is_refused() -> None:
    done = suite()
    assert done.returncode == 2, done.stdout + done.stderr
    assert "name a library to test: --vendor NAME or --library PATH" in done.stdout + done.stderr


def test_selection_of_nothing_is_refused(library: Path) -> None:
    done = suite("--library", str(library), "--fname", "Abs", "--only-dtype", "complex32")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "--only-dtype complex32 alone chooses none" in done.stdout + done.stderr


def test_vendor_is_tested_by_name() -> None:
    done = suite("--vendor", "cpu", "--fname", "Abs", "--sample", "5/1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
