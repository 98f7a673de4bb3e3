"""A part of each function's cases runs, and at least one case."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
@pytest.mark.parametrize("x", range(100))
def test_many(x): assert x >= 0
@pytest.mark.parametrize("x", range(2))
def test_few(x): pass
class TestOther:
    @pytest.mark.parametrize("x", range(12))
    def test_many(self, x): pass
def test_fails(): assert False
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text(TESTS)
    return tmp_path


def run(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "tools.drawn_tests", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-v", *options, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_one_in_so_many_cases_runs(suite: Path) -> None:
    # 100 -> 34, 2 -> 1 and 12 -> 4, and the test without cases.
    first = run(suite, "--one-of=3")
    assert "1 failed, 39 passed, 75 deselected" in first
    assert len(re.findall(r"test_few\[\d+\] PASSED", first)) == 1
    assert "drawn: one in 3 of the cases of each function, by commit" in first
    assert "drawn: 40 of 115 cases\n" in first
    ran = re.findall(r"(\S+) PASSED", first)
    assert re.findall(r"(\S+) PASSED", run(suite, "--one-of=3")) == ran, "another draw of one tree"


def test_otherwise_all_run(suite: Path) -> None:
    everything = "1 failed, 114 passed"
    assert everything in run(suite)
    assert everything in run(suite, "--one-of=3", f"--whole={suite}")
    assert "--one-of=0 is not 1 or more" in run(suite, "--one-of=0")


def test_parts_of_the_functions_make_up_all(suite: Path) -> None:
    (suite / "test_two.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(40)))
    parts = [run(suite, "--one-of=3", f"--functions={part}/2") for part in (0, 1)]
    assert all("drawn: one in 3 of the cases of one in 2 functions, by commit" in x for x in parts)
    ran = [set(re.findall(r"(\S+) (?:PASSED|FAILED)", x)) for x in parts]
    assert not ran[0] & ran[1]
    everything = set(re.findall(r"(\S+) (?:PASSED|FAILED)", run(suite, "--one-of=3")))
    assert ran[0] | ran[1] == everything
    assert min(map(len, ran)) >= 8, "a part has nearly no functions"
    assert "'2/2' is not K/M with 0 <= K < M" in run(suite, "--functions=2/2")
