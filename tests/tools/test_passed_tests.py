"""Exactly the tests that passed in one environment are omitted in another environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
def test_passes(): pass
@pytest.mark.parametrize("x", ["a b", "/"])
def test_passes_with(x): pass
def test_fails(): assert False
def test_skips(): pytest.skip("there is none here")
@pytest.fixture
def broken(): raise ValueError
def test_has_a_broken_fixture(broken): pass
"""


def run(folder: Path, option: str, file: Path) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "tools.passed_tests", f"{option}={file}"]
    options = ["-q", "-rA", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout


def test_what_passed_is_left_out(tmp_path: Path) -> None:
    tests = tmp_path / "package" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_one.py").write_text(TESTS)
    for folder in (tmp_path, tests.parent):
        (folder / "pytest.ini").write_text("[pytest]\n")
    file = tmp_path / "passed.txt"
    assert "1 failed, 3 passed, 1 skipped, 1 error" in run(tests, "--passed-to", file)
    again = run(tests, "--not-passed-in", file)
    assert "1 failed, 1 skipped, 3 deselected, 1 error" in again
    assert "test_passes" not in again
