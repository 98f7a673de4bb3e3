"""`dl dicp explain` runs a program and reports what its graphs became."""

from __future__ import annotations

import html
import sys
from pathlib import Path

import pytest
import torch

from dl_core.cli import main
from dl_dicp.compiled import all_graphs
from dl_dicp.reports.explain_page import explain_page
from dl_dicp.reports.memory_picture import lifetimes

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
    page = tmp_path / "page.html"
    assert explain("--html", str(page), str(program), "--fast", "7") == 0
    assert (sys.argv, sys.path) == before
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "arguments: --fast 7"
    assert [line for line in said if line.endswith("(inference): 3 nodes")]
    assert "  arguments [4, 4]" in said
    assert "    contract graph, 1 calls: diopiExp" in said
    assert "    host call sin: it ran on the CPU" in said
    assert (
        "in total: 2 programs, 2 runs of contract graphs with 2 calls, 0 of them block by block, "
        "1 host calls" in " ".join(said)
    )
    (recompiled,) = [line for line in said if line.startswith("Dynamo recompiled function: ")]
    shown = html.unescape(page.read_text())
    assert recompiled.partition("function: ")[2] in shown
    assert "<td" in shown and "it ran on the CPU" in shown and "no temporaries" in shown


def test_the_page_does_not_replace_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert explain("--html", str(program), "--force", str(program)) == 2
    said = capsys.readouterr()
    assert said.out == "" and f"--html {program} would overwrite the program" in said.err
    assert program.read_text() == PROGRAM


DROPPING = """
import torch

def compiled(function):
    torch.compile(function, backend="dl")(torch.ones(4, 4, device="dl"))
    torch._dynamo.reset()

compiled(torch.exp)
compiled(torch.tanh)
"""


def test_graphs_that_a_program_has_dropped_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(DROPPING)
    assert explain(str(program)) == 0
    said = capsys.readouterr().out
    assert said.count("(inference): 1 nodes") == 2, said
    assert "diopiExp" in said and "diopiTanh" in said


def test_the_page_shows_the_plan_and_what_patterns_did() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        product = x.exp().cos() * y
        return product, product + y

    compiled = torch.compile(function, backend="dl")
    compiled(torch.rand(64, 64, device="dl"), torch.rand(64, 64, device="dl"))
    shown = explain_page("a <program>")
    assert "dl dicp explain a &lt;program&gt;" in shown
    assert "left alone, because an intermediate tensor is used elsewhere" in shown
    assert "16 KiB at 0, from call 0 (diopiExp) to call 1 (diopiCos)" in shown
    assert 'src="' not in shown and "http" not in shown.replace("http-equiv", "")
    (graph,) = all_graphs
    (region,) = graph.variants[0].program.regions  # type: ignore[union-attr]
    times = lifetimes(region.document["entries"]["main"])
    # x, exp, cos, y, the product and the sum, as storages in the order of their first use.
    assert sorted(times.values()) == [(0, 0), (0, 1), (1, 2), (2, 3), (2, 3), (3, 3)]


def test_the_page_of_a_program_for_all_sizes_is_at_those_of_its_record() -> None:
    compiled = torch.compile(lambda x: x.exp().cos() @ x.t(), backend="dl", dynamic=True)
    compiled(torch.rand(6, 64, device="dl"))
    shown = html.unescape(explain_page("a program"))
    (graph,) = all_graphs
    program = graph.variants[0].program
    assert program is not None
    name = next(name for name, size in program.example.items() if size == 6)
    assert f"It serves all sizes: {program.scope.text()}" in shown and f"{name} = 6" in shown
    # Result of exp: 6 rows of 64 elements.
    assert "1.5 KiB at 0, from call 0 (diopiExp)" in shown


def test_a_page_that_cannot_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "nothing.py"
    script.write_text("print('ran')")
    assert explain("--html", str(tmp_path / "nothing.py" / "page"), str(script)) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert explain("--html", str(script), str(script)) == 2
    said = capsys.readouterr()
    assert "nothing.py exists; --force replaces it" in said.err and "ran" not in said.out
    page = tmp_path / "page.html"
    page.write_text("old")
    assert explain("--html", str(page), "--force", str(script)) == 0
    assert page.read_text().startswith("<!doctype html>")


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
    assert "nothing.py is not a file" in said
    assert "-m needs the name of a module" in said
