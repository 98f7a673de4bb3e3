"""Mutations of the descriptions of operators."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dl_vendor_kit.library.expressions import parse
from dl_vendor_kit.library.loading import load
from tools.library_mutations.__main__ import main
from tools.library_mutations.mutations import draw, mutations, render
from tools.library_mutations.stages import generator_stage, judge, outcomes_of

LIBRARY = """\
name: toy
shape: direct
types: {const toyTensor*: tensor, toyTensor*: tensor}
dtypes: {float32: 0}
"""
TENSOR = {"type": "const toyTensor*"}
OUT = {"name": "out", "type": "toyTensor*", "io": "out"}
SIGNATURES = {
    "toyMatmul": [{"name": "left", **TENSOR}, {"name": "right", **TENSOR}, OUT],
    "toyAdd": [{"name": "left", **TENSOR}, {"name": "right", **TENSOR}, OUT],
}
OPERATORS = """\
diopiLinear:
  - {when: bias, calls: ["toyMatmul(input, t(weight), out)", "toyAdd(out, bias, out)"]}
  - {when: not bias, call: "toyMatmul(input, t(weight), out)"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "operators").mkdir()
    (tmp_path / "library.yaml").write_text(LIBRARY)
    table = {name: {"arguments": arguments} for name, arguments in SIGNATURES.items()}
    (tmp_path / "signatures.json").write_text(json.dumps(table))
    (tmp_path / "operators" / "matmul.yaml").write_text(OPERATORS)
    return tmp_path


@pytest.mark.parametrize(
    "text",
    ["f(@g, [1, 2], $t, a[0], null, true, 'x', -1)", "(not (a == 1))", "((a - 1) / b)", "(-a)"],
)
def test_expression_is_rendered_as_it_was_read(text: str) -> None:
    assert render(parse(text)) == text


def test_mutations_are_those_of_the_seed(folder: Path) -> None:
    data = load(folder)
    first = draw(data.library, data.entries, 20, 1)
    assert [x.name for x in first] == [x.name for x in draw(data.library, data.entries, 20, 1)]
    assert [x.name for x in first] != [x.name for x in draw(data.library, data.entries, 20, 2)]
    kinds = {x.kind for x in mutations(data.library, data.entries[0])}
    assert {"exchanged arguments", "dropped argument", "dropped call", "dropped when"} <= kinds
    assert {"dropped view", "wrong function", "wrong parameter", "exchanged calls"} <= kinds


def test_generator_rejects_what_does_not_fit(folder: Path) -> None:
    data = load(folder)
    stage = generator_stage(data.library)
    verdicts = {
        x.name.split(": ", 1)[1]: judge(x, [stage])
        for x in mutations(data.library, data.entries[0])
    }
    dropped = verdicts["dropped when: bias"]
    assert dropped.stage == "generator" and "may be NULL" in dropped.reason
    # The shapes of a product are the conformance suite's to check.
    lost = "dropped view: toyMatmul(input, t(weight), out) -> toyMatmul(input, weight, out)"
    assert verdicts[lost].stage == ""


def test_command_reports_shares(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = folder / "out" / "report.json"
    assert main([str(folder), "--count", "30", "--json", str(report)]) == 0
    said = capsys.readouterr().out
    assert "mutations (seed 0): " in said and "by generator" in said and "SURVIVED" in said
    rows = json.loads(report.read_text())
    assert {row["stage"] for row in rows} == {"generator", ""}
    assert main([str(folder), "--count", "30", "--at-least", "1"]) == 1
    (folder / "operators" / "matmul.yaml").write_text("diopiLinear: []\n")
    assert main([str(folder)]) == 2


def test_outcomes_are_read_from_a_report() -> None:
    report: dict[str, object] = {"cases": [{"name": "a", "status": "passed", "seconds": 1}]}
    assert outcomes_of(report) == {"a": "passed"}
