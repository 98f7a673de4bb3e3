"""`dl dicp explain` runs a program and says what its graphs became."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dl_core.cli import main

PROGRAM = """
import sys
import torch

assert __name__ == "__main__"

def function(x):
    return x.exp().sin().cos()

with torch.dl.force_fallback("sin"):
    run = torch.compile(function, backend="dl")
    run(torch.ones(4, 4, device="dl"))
    run(torch.ones(4, 4, device="dl"))
    run(torch.ones(5, 4, device="dl"))
print("arguments:", *sys.argv[1:])
"""


def explain(*arguments: str) -> int:
    return main(["dicp", "explain", *arguments])


def test_a_script_is_run_and_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    before = list(sys.argv), list(sys.path)
    assert explain(str(program), "--fast", "7") == 0
    assert (sys.argv, sys.path) == before
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "arguments: --fast 7"
    assert [line for line in said if line.endswith("(inference): 3 nodes")]
    assert "  arguments [4, 4]" in said
    assert "    contract graph, 1 calls: diopiExp" in said
    assert "    host call sin: it ran on the CPU" in said
    assert (
        "in all: 2 programs, 2 runs of contract graphs with 2 calls, 0 of them block by block, "
        "1 host calls" in " ".join(said)
    )
    assert [line for line in said if line.startswith("Dynamo compiled function anew: ")]


def test_a_module_that_ends_is_explained_up_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ends_early.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert explain("-m", "ends_early") == 3
    assert "No graph was compiled" in capsys.readouterr().out


def test_a_script_that_fails_is_explained_up_to_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong.py").write_text("1 / 0")
    assert explain(str(tmp_path / "wrong.py")) == 1
    said = capsys.readouterr()
    assert "ZeroDivisionError" in said.err
    assert "No graph was compiled" in said.out


def test_what_is_no_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("nothing.py") == 2
    assert explain("-m") == 2
    said = capsys.readouterr().err
    assert "nothing.py is no file" in said
    assert "-m needs the name of a module" in said
