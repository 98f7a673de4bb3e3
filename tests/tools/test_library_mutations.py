"""Mutations of the descriptions of operators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dl_conformance.outcome import Outcome
from dl_vendor_kit.library.expressions import parse
from dl_vendor_kit.library.loading import load
from dl_vendor_kit.library.located import Place
from dl_vendor_kit.library.model import Case, Text
from tools.library_mutations import equivalent
from tools.library_mutations.__main__ import main
from tools.library_mutations.builds import Builds
from tools.library_mutations.dtypes import can_be
from tools.library_mutations.effects import effects_of
from tools.library_mutations.expressions import render
from tools.library_mutations.mutations import Mutation, draw, facts_of, mutations
from tools.library_mutations.report import Report, ReportError
from tools.library_mutations.stages import Conformance, Verdict, generator_stage, judge
from tools.projects import ROOT

LIBRARY = """\
name: toy
shape: direct
types: {const toyTensor*: tensor, toyTensor*: tensor}
dtypes: {float32: 0}
"""
TENSOR = {"type": "const toyTensor*", "dtypes": ["float32", "float16"]}
OUT = {"name": "out", "type": "toyTensor*", "io": "out"}
SIGNATURES = {
    "toyMatmul": [{"name": "left", **TENSOR, "strided": False}, {"name": "right", **TENSOR}, OUT],
    "toyAdd": [{"name": "left", **TENSOR}, {"name": "right", **TENSOR}, OUT],
}
OPERATORS = """\
diopiLinear:
  - {when: bias, calls: ["toyMatmul(input, t(weight), out)", "toyAdd(out, bias, out)"]}
  - {when: not bias, call: "toyMatmul(input, t(weight), out)"}
"""
LIBRARY_VENDORS = sorted(
    path.parents[1].name for path in ROOT.glob("packages/vendor-*/library/library.yaml")
)


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
    assert {"missing contiguous", "wrong dtypes"} <= kinds


def test_excluded_mutation_is_replaced_and_the_others_stay(folder: Path) -> None:
    data = load(folder)
    first = [x.name for x in draw(data.library, data.entries, 20, 1)]
    other = [x.name for x in draw(data.library, data.entries, 20, 1, excluded=first[:1])]
    assert len(other) == len({*other}) == 20
    assert first[0] not in other and len({*first} & {*other}) >= 18


def test_only_calls_that_share_written_tensors_have_an_order(folder: Path) -> None:
    library = load(folder).library

    def effects(text: str) -> object:
        return effects_of(library, Text(text, load(folder).library.where))

    first = effects("toyAdd(input, bias, out)")
    assert first.reads == {"input", "bias"} and first.writes == {"out"}  # type: ignore[attr-defined]
    reading, writing = effects("toyAdd(out, bias, $t)"), effects("toyAdd(input, bias, $t)")
    assert first.conflicts(reading)  # type: ignore[attr-defined]
    assert not first.conflicts(writing)  # type: ignore[attr-defined]
    # The size of a tensor is known before it is written.
    sized = effects("toyAdd(input, reshaped(bias, [size(out, 0)]), $t)")
    assert not first.conflicts(sized)  # type: ignore[attr-defined]
    assert effects("toyAdd(") is None
    # Opposite conditions are never true for both calls.
    equal, other = effects("toyAdd(out, bias, $t) if bias and n == 0"), first
    assert other.conflicts(equal)  # type: ignore[attr-defined]
    assert not effects("toyAdd(input, bias, out) if n != 0").conflicts(equal)  # type: ignore[attr-defined]
    assert not effects("toyAdd(input, bias, out) if not bias").conflicts(equal)  # type: ignore[attr-defined]


def test_facts_are_changed_alone(folder: Path) -> None:
    data = load(folder)
    found = {x.name: x for x in mutations(data.library, data.entries[0])}
    mutation = found["diopiLinear: missing contiguous: toyMatmul, left"]
    assert mutation.library is not None and mutation.entry == data.entries[0]
    assert mutation.library.functions["toyMatmul"].arguments[0].strided
    assert not data.library.functions["toyMatmul"].arguments[0].strided
    assert 'k_toyMatmul[] = {\n    {"left", true, false, true, 0x300' in facts_of(mutation)
    assert facts_of(found["diopiLinear: dropped when: case 1: bias"]) == ""


def test_generator_rejects_what_does_not_fit(folder: Path) -> None:
    data = load(folder)
    stage = generator_stage(data.library)
    verdicts = {
        x.name.split(": ", 1)[1]: judge(x, [stage])
        for x in mutations(data.library, data.entries[0])
    }
    dropped = verdicts["dropped when: case 1: bias"]
    assert dropped.stage == "generator" and "may be NULL" in dropped.reason
    # The shapes of a product are the conformance suite's to check.
    lost = "toyMatmul(input, t(weight), out) -> toyMatmul(input, weight, out)"
    assert verdicts[f"dropped view: case 2: {lost}"].stage == ""


def test_command_reports_shares(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "out" / "report.json"
    options = [str(folder), "--count", "30", "--json", str(path)]
    assert main([*options, "--at-least", "0"]) == 0
    said = capsys.readouterr().out
    assert "mutations (seed 0): " in said and "by generator" in said and "SURVIVED" in said
    report = json.loads(path.read_text())
    assert {row["stage"] for row in report["mutations"]} == {"generator", ""}
    # The generator alone does not reject enough.
    assert main(options) == 1
    (folder / "operators" / "matmul.yaml").write_text("diopiLinear: []\n")
    assert main([str(folder)]) == 2


def test_interrupted_run_continues(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "report.json"
    options = [str(folder), "--count", "9", "--at-least", "0", "--json", str(path)]
    assert main([*options, "--resume"]) == 2
    assert "there is no report to continue" in capsys.readouterr().err
    assert main(options) == 0
    whole = json.loads(path.read_text())
    first = {**whole, "mutations": whole["mutations"][:4]}
    path.write_text(json.dumps(first))
    capsys.readouterr()
    assert main([*options, "--resume"]) == 0
    # Five verdicts, and the summary of all nine.
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert json.loads(path.read_text()) == whole
    assert main([*options, "--resume", "--seed", "1"]) == 2
    assert "is the report of another draw" in capsys.readouterr().err


def test_survivors_are_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    report = Report(path, {"seed": 0})
    report.add(Verdict("a", "generator", "why"))
    report.add(Verdict("b", ""))
    assert report.survivors == ["b"] and "1 rejected (50.0%): 1 by generator" in report.summary()
    again = Report(path, {"seed": 0, "sources": "changed since"})
    with pytest.raises(ReportError, match="another draw"):
        again.resume()
    again.resume(only_rejected=True)
    assert [*again.verdicts] == ["a"]


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("diopiGather", "index", False),  # int32 and int64
        ("diopiGather", "unsqueeze(index, 0)", False),
        ("diopiGather", "$ids", False),
        ("diopiGather", "input", True),
        ("diopiGather", "$copy", True),
        ("diopiGather", "@shape(index)", True),
        ("diopiLogicalAnd", "out", False),
        ("diopiUnknown", "input", True),
    ],
)
def test_dtypes_that_an_argument_cannot_have_are_known(
    operator: str, value: str, expected: bool
) -> None:
    where = Place("x", 1)
    temporaries = {"ids": Text("int32 like index", where), "copy": Text("like input", where)}
    case = Case(where, 1, temporaries=temporaries)
    assert can_be("float32", operator, case, parse(value)) is expected


class OriginalOnly(Builds):
    """Builds that compile nothing: a library is a path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def original(self) -> Path:
        return self.folder / "original"

    def mutated(self, mutation: Mutation, folder: Path) -> Path:
        return self.folder / "mutated"


@pytest.mark.parametrize(
    ("original", "mutated", "reason"),
    [
        ([], [], ""),
        ([], ["cnnlAdd", "refused: cnnlAdd: the dtypes differ"], "the fake library has refused"),
        (["refused: cnnlAdd: a"], ["refused: cnnlAdd: b"], ""),
        ([], ["misuse: cnnlAdd: a"], "the fake library reports misuse: cnnlAdd: a"),
        (["cubeMathType 0"], ["cubeMathType 1"], "the calls allow another precision"),
    ],
)
def test_answer_of_the_library_rejects_a_mutation(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    original: list[str],
    mutated: list[str],
    reason: str,
) -> None:
    def answer(
        self: Conformance, library: Path, names: Iterable[str]
    ) -> Iterator[tuple[Outcome, list[str]]]:
        for name in names:
            lines = mutated if library.name == "mutated" else original
            yield Outcome(name, "diopiLinear", "float32", "passed"), lines

    monkeypatch.setattr(Conformance, "_run", answer)
    data = load(folder)
    (folder / "build").mkdir()
    for _ in range(2):  # the second stage reads the original's answers from a file
        stage = Conformance(OriginalOnly(folder / "build"), {})
        found = stage(next(mutations(data.library, data.entries[0])))
        assert (reason in found) if reason else not found


def test_equivalent_mutation_needs_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equivalent, "FOLDER", tmp_path)
    assert equivalent.reasons("vendor-toy") == {}
    (tmp_path / "vendor-toy.yaml").write_text("- {reason: same, mutations: [a, b]}\n")
    assert equivalent.reasons("vendor-toy") == {"a": "same", "b": "same"}
    (tmp_path / "vendor-toy.yaml").write_text("- {mutations: [a]}\n")
    with pytest.raises(ValueError, match="a has no reason"):
        equivalent.reasons("vendor-toy")


@pytest.mark.parametrize("package", LIBRARY_VENDORS)
def test_listed_equivalent_mutations_exist(package: str) -> None:
    data = load(ROOT / "packages" / package / "library")
    assert equivalent.stale(data.library, data.entries, equivalent.reasons(package)) == []


def test_stale_equivalent_mutation_stops_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(equivalent, "FOLDER", folder)
    listed = folder / f"{folder.parent.name}.yaml"
    listed.write_text("- {reason: none, mutations: ['diopiLinear: dropped when: x']}\n")
    assert main([str(folder)]) == 2
    assert "no longer a mutation of the description" in capsys.readouterr().err
