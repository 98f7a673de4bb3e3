"""Texts that become C++: names, types and paths that would break the generated code are refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir
from dl_vendor_kit.library.names import header_problem, is_identifier, quoted, type_problem
from library_attacks import refused, run
from test_checks import COMPILER, FLAGS
from test_library_generator import HANDLES, LIBRARY, SIGNATURES, handle_project, project

INJECTION = '"\\"; int x = 1; //"'


def with_library(folder: Path, old: str, new: str) -> Path:
    project(folder)
    assert old in LIBRARY
    (folder / "library.yaml").write_text(LIBRARY.replace(old, new))
    return folder


def with_table(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write the project with a changed signature table."""
    project(folder)
    table = json.loads(json.dumps({k: {"arguments": v} for k, v in SIGNATURES.items()}))
    change(table)
    (folder / "signatures.json").write_text(json.dumps(table))
    return folder


ADDED = "name: toy"
"""A line before which keys are added."""


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("namespace", "class", "namespace: 'class' is not a namespace; write names of C++"),
        ("namespace", "std", "namespace: 'std' contains std, which C++ uses"),
        ("namespace", "'a::'", "'a::' is not a namespace"),
        ("namespace", "'::a'", "'::a' is not a namespace"),
        ("namespace", "'a b'", "'a b' is not a namespace"),
        ("namespace", "größe", "'größe' is not a namespace"),
        ("namespace", INJECTION, "is not a namespace"),
        ("vendor", "{class: 'A; int x'}", "class: 'A; int x' is not a C++ class"),
        ("vendor", "{class: 'A<int>'}", "class: 'A<int>' is not a C++ class"),
        ("vendor", "{class: 'dl::int'}", "class: 'dl::int' is not a C++ class"),
        ("vendor", "{header: 'a\"b.h'}", "header: 'a\"b.h' cannot be the path of a header"),
        ("vendor", "{header: \"a\\nb.h\"}", "header: 'a\\nb.h' cannot be the path of a header"),
        ("header", "'a\\b.h'", "cannot be the path of a header"),
        ("header", "<a.h>", "cannot be the path of a header"),
        ("header", "' a.h'", "cannot be the path of a header"),
        ("declarations", "['a.h', \"b\\0.h\"]", "declarations: 'b\\x00.h' cannot be the path"),
        ("status", "'int; int x'", "status: 'int; int x' is not the type of a status"),
        ("status", "double", "status: 'double' is not the type of a status"),
        ("status", "void", "status: 'void' is not the type of a status"),
        ("status", "int*", "status: 'int*' is not the type of a status"),
        ("status", "unsigned int", "is not the type of a status"),
        ("stream", "'void) {}'", "stream: 'void) {}' is not a type of C"),
        ("stream", "void", "stream: 'void' is not a type of C"),
        ("stream", "toyStream_t", "types, toyStream_t: 'toyStream_t' cannot be declared without a"),
        ("signatures", INJECTION, "cannot be read: No such file"),
    ],
)  # fmt: skip
def test_text_that_breaks_the_sources_is_refused(
    tmp_path: Path, key: str, value: str, message: str
) -> None:
    folder = with_library(tmp_path / "toy", ADDED, f"{key}: {value}\n{ADDED}")
    assert message in refused(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: toy", "name: '2 toys'", "name: '2 toys' cannot be the namespace of the generated "
         "code; add the key 'namespace'"),
        ("name: toy", "name: \"a\\nb\"", "name: 'a\\nb' is not one line of printable characters"),
        ("executor: toyExecutor", "executor: toyExecutor*", "is not the type of an executor"),
        ("executor: toyExecutor", "executor: 'a::b'", "cannot be declared without a header"),
        ("[own.h]", "['own.h\" //']", "headers: 'own.h\" //' cannot be the path of a header"),
        ("[own.h]", "['']", "headers: the value is empty"),
        ("[libtoy.so]", "[\"lib\\ntoy.so\"]", "open: 'lib\\ntoy.so' is not one line of printable"),
        ("const toyTensors*: tensors", "const toyTensors: tensors",
         "the type const toyTensors* has no kind; close names: const toyTensor*"),
        ("toyDtype: dtype", "'toyDtype[3]': dtype", "'toyDtype[3]' is not a type of C; write a"),
        ("toyDtype: dtype", "'int; int x': dtype", "is not a type of C"),
        ("toyDtype: dtype", "unsigned int: dtype", "'unsigned int' cannot be declared without"),
        ("precise:", "class:", "helpers: 'class' is a keyword of C++, and cannot be the name of a"),
        ("precise:", "1:", "helpers: '1' is not a name in C, and cannot be the name of a helper"),
        ("precise:", "t:", "helpers: 't' is a helper or view of the kit; choose another name"),
        ("precise:", "mask:", "helpers: 'mask' is a helper or view of the kit"),
        ("precise:", "größe:", "helpers: 'größe' is not a name in C"),
        ('"toy::precise"', '"toy::precise()"', "helper @precise: 'toy::precise()' is not a C++"),
        ('"toy::precise"', '"int"', "helper @precise: 'int' is not a C++ function"),
        ('"toy::precise"', '""', "helper @precise: the value is empty"),
        ("returns: int", "returns: 'null'", "'null' is not a kind of value"),
        ("returns: int", "returns: int, takes: ['int*', int]", "only the last argument is"),
        ("returns: int", "returns: int, takes: ['int?*?']", "'int?*?' is not a kind of value"),
        ("returns: int", "returns: int, takes: ['tensor&']", "only a helper that returns an"),
        ("returns: int", "returns: action, takes: ['int&']", "only a tensor is written; remove &"),
        ("returns: int, ", "", "helper @precise: needs 'returns' and 'function'; add them"),
    ],
)  # fmt: skip
def test_part_that_breaks_the_sources_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert message in refused(with_library(tmp_path / "toy", old, new))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", "class", "'class' is a keyword of C++, and cannot be the name of an argument"),
        ("name", "operator", "'operator' is a keyword of C++"),
        ("name", "x*/", "'x*/' is not a name in C"),
        ("name", "x\n", "'x\\n' is not a name in C"),
        ("name", "x" * 300, "is not a name in C, and cannot be the name of an argument; use up"),
        ("name", "values_", "argument values_: the generated code uses this name for something"),
        ("name", "begin", "argument begin: the generated code uses this name"),
        ("name", "toyTensor", "argument toyTensor: the generated code uses this name"),
        ("type", "const toyTensor*/", "is not a type of C"),
        ("type", "toyTensor&", "'toyTensor&' is not a type of C"),
        ("type", "int[3]", "'int[3]' is not a type of C"),
        ("type", "void", "'void' is not a type of C"),
        ("type", "void (*)(int)", "is not a type of C"),
        ("type", "int int", "'int int' is not a type of C"),
        ("type", "return", "'return' is not a type of C"),
        ("type", '"', "is not a type of C"),
        ("type", "", "type is empty"),
        ("type", "x\0", "is not a type of C"),
    ],
)  # fmt: skip
def test_argument_that_breaks_the_sources_is_refused(
    tmp_path: Path, key: str, value: str, message: str
) -> None:
    def change(table: dict[str, Any]) -> None:
        table["toyAdd"]["arguments"][0][key] = value

    found = refused(with_table(tmp_path / "toy", change))
    assert message in found and "signatures.json:1: toyAdd" in found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("class", "'class' is a keyword of C++, and cannot be the name of a C function"),
        ("a-b", "'a-b' is not a name in C"),
        ("ﬁne", "'ﬁne' is not a name in C"),
        ("begin", "begin: cannot be described: the generated code uses this name"),
        ("Function", "Function: cannot be described: the generated code uses this name"),
        ("k_toyAdd", "k_toyAdd: cannot be described: the generated code uses this name"),
        ("toyTensor", "toyTensor: cannot be described: a type has this name"),
        ("int64_t", "int64_t: cannot be described: the generated code uses this name"),
        ("toyAddGetWorkspaceSize", "it is the first phase of toyAdd, which describes both"),
    ],
)  # fmt: skip
def test_function_that_breaks_the_sources_is_refused(
    tmp_path: Path, name: str, message: str
) -> None:
    def change(table: dict[str, Any]) -> None:
        table[name] = {"arguments": []}

    assert message in refused(with_table(tmp_path / "toy", change))


@pytest.mark.parametrize(
    "name",
    ["class", "1", "a b", "größe", "x" * 300, "std::x", "a\nb"],
)
def test_name_of_a_temporary_is_one_of_c(tmp_path: Path, name: str) -> None:
    case = {"temporaries": {name: "like input"}, "call": "toyAdd(input, other, alpha, out)"}
    folder = project(tmp_path / "toy", arithmetic=json.dumps({"diopiAdd": case}))
    assert "cannot be the name of a temporary" in refused(folder)


def test_handle_of_an_undeclared_type_is_refused(tmp_path: Path) -> None:
    folder = handle_project(tmp_path / "toy", "diopiSoftmax: 'toySoftmax(input, dim, out)'")
    (folder / "library.yaml").write_text(HANDLES.replace("declarations: [toy.h]\n", ""))
    found = refused(folder)
    assert "types, toyHandle_t: 'toyHandle_t' cannot be declared without a header; name a" in found


@pytest.mark.parametrize(
    "type_",
    ["int", "const int*", "unsigned long long", "long unsigned", "const void* const*", "struct a*",
     "a::b", "a :: b*", "int const*", "volatile char*", "a**"],
)  # fmt: skip
def test_types_of_c_are_accepted(type_: str) -> None:
    assert type_problem(type_) == ""


@pytest.mark.parametrize("path", ["a.h", "../a/b-c.h", "a b.h", "größe.h"])
def test_paths_of_headers_are_accepted(path: str) -> None:
    assert header_problem(path) == ""


def test_words_that_only_namespaces_cannot_use_are_names() -> None:
    assert is_identifier("std") and is_identifier("linux") and not is_identifier("while")


def test_text_in_literals_compiles_and_stays_the_same(tmp_path: Path) -> None:
    """Every character that a literal can contain reaches the program unchanged."""
    texts = ['"', "\\", "a\nb", "\t1", "\x7f2", "??/", "größe", "%s", "\\n", "\0009"]
    codes = [", ".join(str(byte) for byte in text.encode()) for text in texts]
    lines = [
        f"constexpr unsigned char a{n}[] = {{{code}, 0}};\n"
        f"constexpr char b{n}[] = {quoted(text)};\n"
        f"static_assert(sizeof(a{n}) == sizeof(b{n}));\n"
        f"static_assert(same(a{n}, b{n}, sizeof(a{n})));\n"
        for n, (text, code) in enumerate(zip(texts, codes, strict=True))
    ]
    source = tmp_path / "literals.cpp"
    source.write_text(
        "constexpr bool same(const unsigned char* a, const char* b, unsigned long n) {\n"
        "  return n == 0 || (*a == static_cast<unsigned char>(*b) && same(a + 1, b + 1, n - 1));"
        "\n}\n" + "".join(lines)
    )
    command = [*COMPILER, *FLAGS, "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_numbers_as_types_of_the_library_compile(tmp_path: Path) -> None:
    """C's own types can be those of dtypes and pointers; they are not declared again."""
    folder = with_library(tmp_path / "toy", "toyDtype: dtype", "int: dtype, const int64_t*: object")
    table = {name: {"arguments": list(arguments)} for name, arguments in SIGNATURES.items()}
    table["toyCast"]["arguments"][1] = {"name": "dtype", "type": "int"}
    (folder / "signatures.json").write_text(json.dumps(table))
    assert run(folder)[0] == 0
    for name in ("fake", "generated"):
        source = folder / name / "functions.gen.cpp"
        folders = [f"-I{x}" for x in (include_dir(), contract_dir())]
        command = [*COMPILER, *FLAGS, "-fsyntax-only", *folders, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["wchar_t", "_Bool", "INT64_MAX", "UINT8_C", "DL_OK", "__neg"])
def test_name_of_a_header_is_no_function(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path / "toy")
    table = json.loads((folder / "signatures.json").read_text())
    (folder / "signatures.json").write_text(json.dumps({**table, name: table["toyRelu"]}))
    assert f"{name}: cannot be described: the generated code uses this name" in refused(folder)


@pytest.mark.parametrize("name", ["int64_t", "DL_OK", "errno", "toy::stdin"])
def test_name_of_a_header_is_no_namespace(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path / "toy")
    with (folder / "library.yaml").open("a") as file:
        file.write(f"namespace: {name}\n")
    assert "which C++ uses; choose another name" in refused(folder)
