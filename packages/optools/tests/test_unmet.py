"""Patterns that no operator matched, over all processes of a program."""

from __future__ import annotations

import pytest

from dl_optools.launching.launch import STARTED
from dl_optools.launching.notes import VARIABLE, Notes, note
from dl_optools.launching.unmet import Unmet, note_unmet, unmet_of
from dl_optools.observe import OpObserve
from dl_optools.selection import Selection, unmet_texts


def test_a_selection_knows_what_it_never_matched() -> None:
    selection = Selection.of(r"torch\.ad,torch.add,no.*")
    assert [name in selection for name in ("torch.add", "torch.mul")] == [True, False]
    assert selection.unmet() == {r"torch\.ad": "torch.add", "no.*": ""}


@pytest.mark.parametrize(
    ("processes", "want"),
    [
        ([{"a": "", "b": ""}], [Unmet("time", {"a": "", "b": ""}, True)]),
        ([{"a": "", "b": ""}, {"a": ""}], [Unmet("time", {"a": ""}, False)]),
        ([{"a": ""}, {"b": ""}], [Unmet("time", {}, False)]),
        # Asked for no operator at all, and killed before its end.
        ([{"a": "", "b": ""}, None], [Unmet("time", {"a": "", "b": ""}, True)]),
        ([None], []),
        ([{"a": "", "b": ""}, "killed"], []),
    ],
)
def test_what_any_process_met_is_met(
    processes: list[dict[str, str] | str | None], want: list[Unmet]
) -> None:
    with Notes() as notes:
        environ = {VARIABLE: str(notes.path)}
        for number, patterns in enumerate(processes):
            note(environ, f"{STARTED}time, process {number}")
            if patterns is None:
                note_unmet(environ, Unmet("time", {}, True, asked=False))
            elif isinstance(patterns, dict):
                note_unmet(environ, Unmet("time", patterns, len(patterns) == 2))
        assert unmet_of(notes.lines()) == want


def test_without_a_command_it_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    note_unmet({}, Unmet("time", {"torch.ad": "torch.add"}, True))
    note_unmet({}, Unmet("time", {}, True, asked=False))
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "'torch.ad' names; did you mean torch.add?" in said


def test_names_of_the_other_level_are_told_apart_from_misspelt_ones() -> None:
    names = ["aten.mm.default", r"aten\..*", "torch.ad", "Linear"]
    tool = OpObserve(level="api", ops=names, device="cpu")
    assert not any(name in tool.selection for name in ("torch.add", "torch.nn.functional.linear"))
    found = tool.unmet()
    near = dict(zip(names, ["--level dispatch", "--level dispatch", "torch.add", ""], strict=True))
    assert found == near
    line = unmet_texts("observe", found)[0]
    assert line.endswith("operators of level dispatch are named so: give `--level dispatch`")
    other = OpObserve(level="dispatch", ops="torch.nn.functional.linear,aten.mm.out", device="cpu")
    assert "aten.add.Tensor" not in other.selection
    assert other.unmet() == {"torch.nn.functional.linear": "--level api", "aten.mm.out": ""}
