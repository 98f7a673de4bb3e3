"""The tests run in the repository of a vendor, which has its own lists of known failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch

SWEEP = ("dl_torch_tests.opinfo.test_sweep", "-k", "test_operator_is_right[forward-float32-exp]")


def run(folder: Path) -> str:
    """Return the output of a test of one operator in a folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", *SWEEP]
    return subprocess.run(
        command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False
    ).stdout


def test_operator_passes_and_is_counted(tmp_path: Path) -> None:
    said = run(tmp_path)
    assert "1 passed" in said
    assert "OpInfo forward float32 on " in said and ": 1 of 1 right, " in said


def test_lists_of_the_project_are_strict(tmp_path: Path) -> None:
    folder = "lists/{vendor}"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\ndl_known_failures = {folder}\n")
    lists = tmp_path / "lists" / torch.dl.get_device_properties(0).vendor
    lists.mkdir(parents=True)
    listed = "exp | forward | float32 | rounds twice\n"
    (lists / "opinfo_known_failures.txt").write_text(listed)
    said = run(tmp_path)
    assert "passes now" in said and "rounds twice" in said and "1 failed" in said
