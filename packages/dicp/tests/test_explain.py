"""`dl dicp explain` runs a program and says what its graphs became."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dl_core.cli import main

PROGRAM = """
import sys
import torch

assert __name__ == "__main__"
x = torch.ones(4, 4, device="dl")

def function(x):
    return x.exp().sin().cos()

with torch.dl.force_fallback("sin"):
    run = torch.compile(function, backend="dl")
    run(x), run(x)
print("arguments:", *sys.argv[1:])
"""


def explain(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dl_core", "dicp", "explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_a_script_is_run_and_explained(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = explain("program.py", "--fast", "7", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "arguments: --fast 7"
    assert "graph 0 (inference): 3 nodes" in said
    assert "    contract graph, 1 calls: diopiExp" in said
    assert "    host call sin: it ran on the CPU" in said
    assert said[-1].startswith("in all: 1 programs, 2 runs of contract graphs with 2 calls, 1 host")


def test_a_module_that_fails_is_explained_up_to_there(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit(3)")
    done = explain("-m", "broken", folder=tmp_path)
    assert done.returncode == 3
    assert "No graph was compiled" in done.stdout
    (tmp_path / "wrong.py").write_text("1 / 0")
    done = explain("wrong.py", folder=tmp_path)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_what_is_no_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dicp", "explain", "nothing.py"]) == 2
    assert "nothing.py is no file" in capsys.readouterr().err
