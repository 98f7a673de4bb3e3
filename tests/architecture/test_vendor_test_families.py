"""Tests of an operator are in files named after its family: `test_<family>.py`,
`test_<family>_<part>.py`.

This shows which tests to run after a change to an operator. The reference vendor has the
numerical tests.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest
from test_families import PACKAGES, family_of_file, schema_families

TESTS = PACKAGES / "vendor-cpu" / "tests"
OF_NO_FAMILY = {
    # Tests that iterate over all operators, or a loop that many operators share.
    *("test_bad_arguments", "test_bfloat16", "test_bool_bytes", "test_calls"),
    *("test_complex_functions", "test_diopi_calls", "test_promotion", "test_shapes"),
    # The library, the plugin and its features apart from operators.
    *("test_choices", "test_constants", "test_diopi_impl", "test_kernel_arguments"),
    *("test_kernel_extension", "test_libraries", "test_library", "test_openblas", "test_plugin"),
    "test_runtime",
}


def operators_by_short_name() -> dict[str, set[str]]:
    """Return operators by their names in tests: without diopi or dlop."""
    found = defaultdict(set)
    for name in schema_families():
        found[name.removeprefix("diopi").removeprefix("dlop")].add(name)
        found[name].add(name)
    return found


def names_in(path: Path) -> set[str]:
    """Return the operators that a test calls, or has in a table: `op.Add(...)`, `"Add"`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            if node.value.attr == "op":
                found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def misplaced_tests(folder: Path) -> list[str]:
    """Return a sentence for each wrong file name in a folder of tests."""
    schema, known, wrong = schema_families(), operators_by_short_name(), []
    for path in sorted(folder.glob("test_*.py")):
        if path.stem in OF_NO_FAMILY:
            continue
        family = family_of_file(path.stem.removeprefix("test_"))
        if family is None:
            wrong.append(f"{path.name} has the name of no family; move its tests")
            continue
        named = {name: known[name] for name in names_in(path) if name in known}
        if not any(schema[each] == family for each in set().union(*named.values())):
            wrong.append(f"{path.name} names no operator of {family}")
        for name, operators in sorted(named.items()):
            families = {schema[each] for each in operators}
            if family not in families:
                wrong.append(f"{path.name} names {name}, which belongs to {' or '.join(families)}")
    return wrong


def test_tests_of_an_operator_are_in_files_of_its_family() -> None:
    assert len(list(TESTS.glob("test_*.py"))) > 60
    assert misplaced_tests(TESTS) == []
    assert {path.stem for path in TESTS.glob("test_*.py")} >= OF_NO_FAMILY


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("test_unary", "vendor.op.Sin(out, x)", "has the name of no family"),
        ("test_power", "vendor.op.Sin(out, x)", "names Sin, which belongs to trigonometry"),
        ("test_power", 'CASES = ["Sqrt", "Sin"]', "names Sin, which belongs to trigonometry"),
        ("test_power", 'op["diopiAdd"], op.Sqrt', "names diopiAdd, which belongs to arithmetic"),
        ("test_power", "assert True", "names no operator of power"),
    ],
)
def test_test_in_another_file_is_noticed(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / f"{name}.py").write_text(text)
    assert any(line.startswith(f"{name}.py {said}") for line in misplaced_tests(tmp_path))


def test_tests_in_the_right_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_power.py").write_text("vendor.op.Sqrt(out, x)")
    (tmp_path / "test_power_limits.py").write_text('NAMES = ("Sqrt", "mean", "sliced")')
    assert misplaced_tests(tmp_path) == []
