"""Patterns that matched no operator in any process of a program."""

from __future__ import annotations

import pytest

from dl_optools.launching.launch import STARTED
from dl_optools.launching.notes import VARIABLE, Notes, note
from dl_optools.launching.unmatched import UnmatchedPatterns, note_unmatched, unmatched_of
from dl_optools.observe import OpObserve
from dl_optools.selection import Selection, unmatched_texts


def test_a_selection_lists_unmatched_patterns() -> None:
    selection = Selection.of(r"torch\.ad,torch.add,no.*")
    assert [name in selection for name in ("torch.add", "torch.mul")] == [True, False]
    assert selection.unmatched() == {r"torch\.ad": "torch.add", "no.*": ""}


@pytest.mark.parametrize(
    ("processes", "want"),
    [
        ([{"a": "", "b": ""}], [UnmatchedPatterns("time", {"a": "", "b": ""}, True)]),
        ([{"a": "", "b": ""}, {"a": ""}], [UnmatchedPatterns("time", {"a": ""}, False)]),
        ([{"a": ""}, {"b": ""}], [UnmatchedPatterns("time", {}, False)]),
        # No operator was looked up, and the process was killed before its end.
        ([{"a": "", "b": ""}, None], [UnmatchedPatterns("time", {"a": "", "b": ""}, True)]),
        ([None], []),
        ([{"a": "", "b": ""}, "killed"], []),
    ],
)
def test_a_pattern_matched_in_any_process_is_matched(
    processes: list[dict[str, str] | str | None], want: list[UnmatchedPatterns]
) -> None:
    with Notes() as notes:
        environ = {VARIABLE: str(notes.path)}
        for number, patterns in enumerate(processes):
            note(environ, f"{STARTED}time, process {number}")
            if patterns is None:
                note_unmatched(environ, UnmatchedPatterns("time", {}, True, asked=False))
            elif isinstance(patterns, dict):
                note_unmatched(environ, UnmatchedPatterns("time", patterns, len(patterns) == 2))
        assert unmatched_of(notes.lines()) == want


def test_without_a_command_it_is_reported_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    note_unmatched({}, UnmatchedPatterns("time", {"torch.ad": "torch.add"}, True))
    note_unmatched({}, UnmatchedPatterns("time", {}, True, asked=False))
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "'torch.ad' matches; did you mean torch.add?" in said


def test_names_of_the_other_level_are_distinguished_from_misspelt_ones() -> None:
    names = ["aten.mm.default", r"aten\..*", "torch.ad", "Linear"]
    tool = OpObserve(level="api", ops=names, device="cpu")
    assert not any(name in tool.selection for name in ("torch.add", "torch.nn.functional.linear"))
    found = tool.unmatched()
    near = dict(zip(names, ["--level dispatch", "--level dispatch", "torch.add", ""], strict=True))
    assert found == near
    line = unmatched_texts("observe", found)[0]
    assert line.endswith("operators of level dispatch have such names: use `--level dispatch`")
    other = OpObserve(level="dispatch", ops="torch.nn.functional.linear,aten.mm.out", device="cpu")
    assert "aten.add.Tensor" not in other.selection
    assert other.unmatched() == {"torch.nn.functional.linear": "--level api", "aten.mm.out": ""}
