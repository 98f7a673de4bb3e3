"""A device that breaks ends one case, and the next case runs in a new process.

Without a device, the run ends before its first case.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from diopi_proto.build import compile_library
from dl_vendor_kit import include_dir

CHOSEN = ("--fname", "Relu", "--only-dtype", "float32", "-k", "not refused", "--jobs", "1")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the library of ``lost.cpp``."""
    source = Path(__file__).with_name("lost.cpp")
    path = tmp_path_factory.mktemp("board") / "liblost.so"
    return compile_library(path, [source], include_dirs=[include_dir()])


def suite(library: Path, report: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dl_conformance", "--library", str(library), *CHOSEN]
    return subprocess.run(
        [*command, "--json", str(report)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_cases_after_it_run(board: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = suite(board, report)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = {x["name"]: x for x in json.loads(report.read_text())["cases"]}
    failed = {name: x["detail"] for name, x in cases.items() if x["status"] == "failed"}
    assert failed and all("-5" in name for name in failed)
    for detail in failed.values():
        assert "the device fell off the bus" in detail
        assert detail.endswith("the next case runs in a new one")
    assert sum(x["status"] == "passed" for x in cases.values()) > 5


def test_without_a_device_the_suite_does_not_run(board: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = suite(board, report, DL_TEST_NO_BOARD="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "conformance: liblost has no device here: the board is not plugged in\n"
    assert not report.exists()
