"""Location of results, and stack frames in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch.overrides import TorchFunctionMode

from dl_optools.outputs import results_directory, results_root, run_stamp, unused_path
from dl_optools.stacks import Frame, program_stack


def test_the_variable_names_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert results_root({}) == Path("op_tools_results")
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path / "out"))
    assert results_directory("timing") == tmp_path / "out" / "timing"
    assert results_directory("timing", tmp_path / "own") == tmp_path / "own"
    # The test for writability leaves nothing behind.
    assert sorted(tmp_path.rglob("*")) == [
        *(tmp_path / "out", tmp_path / "out" / "timing", tmp_path / "own")
    ]


def test_a_run_has_one_stamp() -> None:
    assert run_stamp() == run_stamp()
    assert f"pid{os.getpid()}_" in run_stamp()


def test_names_that_are_taken_get_a_number(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    assert unused_path(path) == path
    path.touch()
    assert unused_path(path) == tmp_path / "table_2.csv"
    (tmp_path / "table_2.csv").touch()
    assert unused_path(path) == tmp_path / "table_3.csv"


def test_the_stack_shows_the_program_and_nothing_of_torch() -> None:
    seen: list[tuple[Frame, ...]] = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(program_stack(depth=2))
            return func(*args, **(kwargs or {}))

    linear = torch.nn.Linear(2, 2)
    with Mode():
        linear(torch.ones(1, 2))
    frames = next(x for x in seen if len(x) == 2 and "linear(" in x[1].code)
    assert [Path(frame.file).name for frame in frames] == [Path(__file__).name] * 2
    assert "linear(torch.ones(1, 2))" in str(frames[1])
    assert frames[0].function.endswith("__torch_function__")
