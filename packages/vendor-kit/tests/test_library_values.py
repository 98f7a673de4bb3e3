"""Values in conditions: those of the contract, names of enumerations, and repetitions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from library_attacks import refused, run
from test_library_generator import SIGNATURES, project

GELU = "diopiGelu: {{when: {0}, call: 'toyRelu(input, out)'}}\n"
DIV = "diopiDiv: {{when: {0}, call: 'toyAdd(input, other, 1, out)'}}\n"


@pytest.mark.parametrize(
    "condition",
    [
        """ "approximate == 'none'" """,
        """ "approximate != 'tanh'" """,
        """ "approximate in ('none',)" """,
    ],
)
def test_values_of_the_contract_are_accepted(tmp_path: Path, condition: str) -> None:
    assert run(project(tmp_path / "toy", activation_smooth=GELU.format(condition)))[0] == 0


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (""" "approximate == 'tan'" """, "never 'tan'; close names: tanh; its values are 'none'"),
        (""" "'nothing' != approximate" """, "approximate is never 'nothing'"),
        (""" "approximate in ('none', 'tan')" """, "approximate is never 'tan'"),
        (""" "approximate in ('none', 'tanh')" """, "lists all values of approximate"),
    ],
)
def test_other_values_are_refused(tmp_path: Path, condition: str, message: str) -> None:
    folder = project(tmp_path / "toy", activation_smooth=GELU.format(condition))
    assert message in refused(folder)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        (""" "rounding_mode == 'trunc'" """, "(rounding_mode == int64_t{1})"),
        (""" "rounding_mode in ('none', 'floor')" """, "{int64_t{0}, int64_t{2}}"),
        ("rounding_mode == 2", "(rounding_mode == int64_t{2})"),
    ],
)
def test_enumerations_have_names(tmp_path: Path, condition: str, code: str) -> None:
    folder = project(tmp_path / "toy", division=DIV.format(condition))
    assert run(folder)[0] == 0
    (source,) = folder.parent.rglob("division.gen.cpp")
    assert code in source.read_text()


def test_unknown_name_of_an_enumeration_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy", division=DIV.format(""" "rounding_mode == 'truncate'" """))
    found = refused(folder)
    assert "rounding_mode is never 'truncate'; close names: trunc; its values are 'none'" in found


@pytest.mark.parametrize("condition", ["1 == 1", "'x' == 'x'", "[1] == [1]", "not (2 > 1)"])
def test_condition_without_arguments_is_refused(tmp_path: Path, condition: str) -> None:
    text = f"""diopiSoftmax: {{when: "{condition}", call: 'toySoftmax(input, dim, out)'}}\n"""
    assert "does not depend on any argument" in refused(project(tmp_path / "toy", softmax=text))


@pytest.mark.parametrize("count", ["5", "size(input, 0)"])
def test_repetitions_differ(tmp_path: Path, count: str) -> None:
    text = f'diopiSoftmax: {{each: "{count}", call: "toySoftmax(input, dim, out)"}}\n'
    assert "the calls do not use i" in refused(project(tmp_path / "toy", softmax=text))
    right = text.replace("out)", "select(out, 0, i))")
    assert run(project(tmp_path / "right", softmax=right))[0] == 0


def test_descriptor_of_a_pointer_is_a_descriptor(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy")
    table = {name: {"arguments": [*rows]} for name, rows in SIGNATURES.items()}
    table["toyRelu"]["arguments"][0] = {**SIGNATURES["toyRelu"][0], "descriptor": "out"}
    (folder / "signatures.json").write_text(json.dumps(table))
    assert "'out' is not a descriptor; remove the key 'descriptor'" in refused(folder)


def test_file_without_operators_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy", softmax="{}\n")
    assert "softmax.yaml: describes no operator; add one, or remove the file" in refused(folder)
