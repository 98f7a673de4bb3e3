"""T1 files: their declarations, and refused files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dl_autotune import SpaceError
from dl_autotune.spaces.t1 import read_t1

TEXT = """{"ConfigurationSpace": {
  "TuningParameters": [
    {"Name": "x", "Type": "int", "Values": "[8, 16, 32]", "Default": 16},
    {"Name": "y", "Type": "int", "Values": [1, 2, 4]}
  ],
  "Conditions": [{"Expression": "x * y <= 32", "Parameters": ["x", "y"]}]
}}"""


def test_parameters_and_conditions_become_a_space(tmp_path: Path) -> None:
    (tmp_path / "t1.json").write_text(TEXT)
    space = read_t1(tmp_path / "t1.json")
    assert space.size == 6
    assert {(c["x"], c["y"]) for c in space.configs()} == {
        (8, 1), (8, 2), (8, 4), (16, 1), (16, 2), (32, 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"Type": "int", ', '"Name": "z", ', "key Name occurs twice"),
        ("[8, 16, 32]", "range(9)", r"values of parameter x, 'range\(9\)', are not a list"),
        ("x * y <=", "x * z <=", r"names z, which is not a parameter.*t1\.json"),
        ("<= 32", "<= 1", r"leaves no configuration.*t1\.json"),
        ("TuningParameters", "Parameters", "is not a T1 file: KeyError"),
        ("}}", "", "is not a T1 file"),
    ],
)
def test_the_fault_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "t1.json").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(SpaceError, match=message):
        read_t1(tmp_path / "t1.json")


def test_a_missing_or_invalid_object_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpaceError, match="is not a T1 file: FileNotFoundError"):
        read_t1(tmp_path / "none.json")
    (tmp_path / "list.json").write_text(json.dumps([1]))
    with pytest.raises(SpaceError, match="is not a T1 file: TypeError"):
        read_t1(tmp_path / "list.json")
