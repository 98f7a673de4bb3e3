"""The signature table is compared with the library's own header when the vendor is compiled."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir
from dl_vendor_kit.library.__main__ import main
from dl_vendor_kit.project import render
from test_checks import COMPILER, FLAGS

HEADER = """\
#ifndef TOY_H_
#define TOY_H_
#include <stdint.h>
extern "C" {
typedef enum { TOY_OK = 0, TOY_BAD = 1 } toyStatus_t;
typedef enum { TOY_FLOAT = 0 } toyDtype_t;
typedef struct toyTensor toyTensor;
typedef struct toyExecutor toyExecutor;
BODY
}
#endif
"""
DIRECT = """\
toyStatus_t toyNeg(void* stream, const toyTensor* input, toyTensor* out);
toyStatus_t toyCast(const toyTensor* self, const toyDtype_t dtype, toyTensor* out);
"""
TWO_PHASE = """\
toyStatus_t toyNegGetWorkspaceSize(const toyTensor* input, toyTensor* out, uint64_t* bytes,
                                   toyExecutor** executor);
toyStatus_t toyNeg(void* workspace, uint64_t bytes, toyExecutor* executor, void* stream);
"""
TYPES = "types: {const toyTensor*: tensor, toyTensor*: tensor, toyDtype_t: dtype, void*: stream}\n"
INPUT = {"name": "input", "type": "const toyTensor*"}
OUT = {"name": "out", "type": "toyTensor*", "io": "out"}
STREAM = {"name": "stream", "type": "void*"}
# A description without operators is an error.
OPERATORS = {"arithmetic": "diopiAdd: {function: toy::add}\n"}
CAST = [INPUT, {"name": "dtype", "type": "toyDtype_t"}, OUT]


def write_project(
    folder: Path,
    shape: str,
    body: str,
    operators: Mapping[str, str] | None = None,
    **functions: list[dict[str, str]],
) -> Path:
    library = folder / "library"
    (library / "operators").mkdir(parents=True)
    (folder / "toy.h").write_text(HEADER.replace("BODY", body))
    (library / "library.yaml").write_text(
        f"name: toy\nshape: {shape}\nheader: toy.h\nstatus: toyStatus_t\n"
        f"executor: toyExecutor\ndtypes: {{float32: 0}}\n{TYPES}"
        "outputs: {sources: ../generated, fake: ../fake, functions: ../functions.json}\n"
    )
    for family, text in (operators or OPERATORS).items():
        (library / "operators" / f"{family}.yaml").write_text(text)
    entries = ",\n".join(
        f"{json.dumps(name)}: {json.dumps({'arguments': arguments})}"
        for name, arguments in functions.items()
    )
    (library / "signatures.json").write_text(f"{{\n{entries}\n}}")
    assert main([str(library)]) == 0
    return folder


def compile_source(folder: Path, source: str) -> str:
    """Return the messages of the compiler; empty if the source compiles."""
    folders = [f"-I{x}" for x in (include_dir(), contract_dir(), folder)]
    command = [*COMPILER, *FLAGS, "-fsyntax-only", *folders, str(folder / source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(done.stderr) == (done.returncode != 0), done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("shape", "body", "functions"),
    [
        ("direct", DIRECT, {"toyNeg": [STREAM, INPUT, OUT], "toyCast": CAST}),
        ("two_phase", TWO_PHASE, {"toyNeg": [INPUT, OUT]}),
    ],
)
def test_table_that_agrees_with_the_header_compiles(
    tmp_path: Path, shape: str, body: str, functions: dict[str, list[dict[str, str]]]
) -> None:
    folder = write_project(tmp_path, shape, body, **functions)
    assert compile_source(folder, "generated/signatures.gen.cpp") == ""
    assert compile_source(folder, "generated/functions.gen.cpp") == ""
    # The fake defines the functions that the header declares, with statuses of its enumeration.
    assert compile_source(folder, "fake/functions.gen.cpp") == ""


@pytest.mark.parametrize(
    "changed",
    [
        [STREAM, OUT, INPUT],  # exchanged
        [STREAM, INPUT, {**OUT, "type": "const toyTensor*"}],  # const
        [STREAM, INPUT, {"name": "alpha", "type": "double"}, OUT],  # one more
        [INPUT, OUT],  # one less
    ],
)
def test_changed_signature_is_reported_with_its_function_and_line(
    tmp_path: Path, changed: list[dict[str, str]]
) -> None:
    folder = write_project(tmp_path, "direct", DIRECT, toyCast=CAST, toyNeg=changed)
    said = compile_source(folder, "generated/signatures.gen.cpp")
    assert said.startswith("library/signatures.json:3:"), said
    assert "toy.h declares toyNeg otherwise than library/signatures.json, line 3" in said
    assert "toyCast" not in said


def test_function_that_does_not_throw_agrees(tmp_path: Path) -> None:
    body = DIRECT.replace("toyTensor* out);", "toyTensor* out) noexcept;")
    folder = write_project(tmp_path, "direct", body, toyNeg=[STREAM, INPUT, OUT], toyCast=CAST)
    assert compile_source(folder, "generated/signatures.gen.cpp") == ""


def test_changed_phase_or_status_is_reported(tmp_path: Path) -> None:
    body = TWO_PHASE.replace("uint64_t* bytes", "uint32_t* bytes")
    folder = write_project(tmp_path / "phase", "two_phase", body, toyNeg=[INPUT, OUT])
    said = compile_source(folder, "generated/signatures.gen.cpp")
    assert "toy.h declares toyNegGetWorkspaceSize otherwise" in said and "toyNeg other" not in said
    body = DIRECT.replace("toyStatus_t toyNeg", "int toyNeg")
    folder = write_project(tmp_path / "status", "direct", body, toyNeg=[STREAM, INPUT, OUT])
    said = compile_source(folder, "generated/signatures.gen.cpp")
    assert "toyStatus_t (*)(void*, " in said and "or 'status' of library.yaml" in said


def test_function_that_the_header_lacks_is_reported_at_its_line(tmp_path: Path) -> None:
    folder = write_project(tmp_path, "direct", DIRECT, toyCast=CAST, toyMul=[STREAM, INPUT, OUT])
    said = compile_source(folder, "generated/signatures.gen.cpp")
    assert said.startswith("library/signatures.json:3:") and "toyMul" in said


def test_table_of_a_new_project_agrees_with_its_header(tmp_path: Path) -> None:
    for path, text in render("npu", "library", "separate").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    sources = tmp_path / "csrc"
    assert main([str(tmp_path / "library")]) == 0
    assert compile_source(sources, "generated/signatures.gen.cpp") == ""
    header = (sources / "sdk.h").read_text()
    changed = header.replace(
        "const npuTensor_t* other, double alpha", "npuTensor_t* other, double alpha"
    )
    assert changed != header
    (sources / "sdk.h").write_text(changed)
    said = compile_source(sources, "generated/signatures.gen.cpp")
    assert said.startswith("library/signatures.json:2:") and "sdk.h declares npuAdd" in said


def test_functions_of_operators_are_listed_for_the_doctor(tmp_path: Path) -> None:
    for path, text in render("npu", "library", "separate").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert main([str(tmp_path / "library")]) == 0
    found = json.loads((tmp_path / "src" / "dl_vendor_npu" / "functions.json").read_text())
    assert found["open"] == []
    assert found["functions"]["npuAdd"] == {
        "symbols": ["npuAdd"],
        "operators": ["diopiAdd", "diopiSub"],
    }
    assert len(found["functions"]) == 6
    folder = write_project(
        tmp_path / "two",
        "two_phase",
        TWO_PHASE,
        {"sign": "diopiNeg: 'toyNeg(input, out)'\n"},
        toyNeg=[INPUT, OUT],
    )
    found = json.loads((folder / "functions.json").read_text())["functions"]
    assert found["toyNeg"]["symbols"] == ["toyNegGetWorkspaceSize", "toyNeg"]
