"""Functions that an installed operator library lacks are named with the operators they serve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diopi_proto.build import compile_library
from diopi_proto.operator_library import describe_functions

FUNCTIONS = {
    "toyAdd": {"symbols": ["toyAddSize", "toyAdd"], "operators": ["diopiAdd", "diopiSub"]},
    "toyMul": {"symbols": ["toyMulSize", "toyMul"], "operators": ["diopiMul"]},
    "toyNeg": {"symbols": ["toyNegSize", "toyNeg"], "operators": ["diopiNeg"]},
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries")
    for name, functions in {
        "libtoy.so": ("toyAddSize", "toyAdd", "toyMul"),
        "libtoy_more.so": ("toyNegSize", "toyNeg"),
    }.items():
        source = folder / f"{name}.c"
        public = '__attribute__((visibility("default")))'
        source.write_text("".join(f"{public} int {x}(void) {{ return 0; }}\n" for x in functions))
        compile_library(folder / name, [source], legacy=True, exports=functions)
    return folder


def write_table(folder: Path, *names: str) -> Path:
    table = folder / "functions.json"
    table.write_text(json.dumps({"open": names, "functions": FUNCTIONS}))
    return table


def test_missing_functions_are_named_with_their_operators(libraries: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path, "libtoy.so")
    said = describe_functions(table, folders=[libraries], environ={})
    assert said.startswith(f"2 of 3 are missing in {libraries}/libtoy.so, which disables cases of")
    # One of the two phases of toyMul is missing.
    assert "toyMul (diopiMul), toyNeg (diopiNeg); a later release" in said and "toyAdd" not in said


def test_patterns_and_paths_are_searched(libraries: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path, "libtoy.so", "libtoy_*.so")
    environ = {"LD_LIBRARY_PATH": f"/nowhere:{libraries}"}
    said = describe_functions(table, environ=environ)
    assert said.startswith(f"1 of 3 are missing in {libraries}/libtoy.so, {libraries}/libtoy_more")
    said = describe_functions(table, [str(libraries / "libtoy_more.so")], environ={})
    assert said.startswith("2 of 3 are missing") and "toyAdd (diopiAdd, diopiSub)" in said


def test_complete_library_is_reported_with_its_files(libraries: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path, "libtoy.so")
    found = json.loads(table.read_text())
    del found["functions"]["toyMul"], found["functions"]["toyNeg"]
    table.write_text(json.dumps(found))
    said = describe_functions(table, folders=[libraries], environ={})
    assert said == f"all 1 are in {libraries}/libtoy.so"


def test_what_cannot_be_read_is_unknown(libraries: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path, "libtoy_absent.so")
    said = describe_functions(table, environ={})
    assert said == "unknown: no file of libtoy_absent.so was found"
    (tmp_path / "libtoy_absent.so").write_text("not a library")
    assert "is not an ELF file" in describe_functions(table, folders=[tmp_path], environ={})
    table.write_text("{}")
    assert "functions.json cannot be read" in describe_functions(table, environ={})
    assert "reinstall the wheel" in describe_functions(tmp_path / "none.json", environ={})


def test_long_lists_are_cut(libraries: Path, tmp_path: Path) -> None:
    many = {f"f{i}": {"symbols": [f"f{i}"], "operators": ["diopiAdd"]} for i in range(14)}
    many["f0"]["operators"] = [f"diopi{i}" for i in range(12)]
    table = tmp_path / "functions.json"
    table.write_text(json.dumps({"open": ["libtoy.so"], "functions": many}))
    said = describe_functions(table, folders=[libraries], environ={})
    assert "diopi9 and 2 more)" in said and "f9 (diopiAdd) and 4 more; a later" in said
