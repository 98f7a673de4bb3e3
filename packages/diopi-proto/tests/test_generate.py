"""The generator: its output is committed and complete, and invalid schemas are rejected."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("yaml")

from diopi_proto import schema
from diopi_proto.generate.__main__ import main
from diopi_proto.generate.cffi_module import declarations
from diopi_proto.generate.files import generate
from diopi_proto.generate.freeze import FILE, FrozenSignatureError, freeze
from diopi_proto.generate.headers import headers
from diopi_proto.generate.read import SchemaError, read_schema
from diopi_proto.generate.text import comment, prototype

ROOT = Path(__file__).resolve().parents[1]
RELU = """  - name: diopiRelu
    op_class: exact
    dtypes: real
    doc: >-
      Text.
    params:
      - {name: out, type: diopiTensorHandle_t, direction: out, may_alias: [input]}
      - {name: input, type: diopiConstTensorHandle_t}
"""
STACK = """  - name: diopiStack
    op_class: exact
    dtypes: all
    doc: Text.
    params:
      - {name: out, type: diopiTensorHandle_t, direction: out}
      - {name: tensors, type: diopiConstTensorHandle_t*, counted_by: count, allocated_by: host}
      - {name: count, type: int64_t}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Copy of the generator's inputs and outputs."""
    for name in ("schema", "include", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    package = tmp_path / "src" / "diopi_proto"
    (package / "worker").mkdir(parents=True)
    for name in ("_schema_gen.json", "_ffi_gen.py", "worker/_linux_gen.py"):
        shutil.copy(ROOT / "src" / "diopi_proto" / name, package / name)
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A schema folder with one family, ``sample``, to be filled by :func:`write`."""
    shutil.copy(ROOT / "schema" / "runtime.yaml", tmp_path / "runtime.yaml")
    return tmp_path


def write(folder: Path, operators: str) -> Path:
    text = f"family: sample\nsummary: Text.\noperators:\n{operators}"
    (folder / "sample.yaml").write_text(text, encoding="utf-8")
    return folder


def test_generated_files_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[1]
    assert main(["--check", "--root", str(root)]) == 0, capsys.readouterr().err


def test_check_names_the_files_that_differ(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = tree / "include" / "diopi" / "functions_sparse.h"
    header.write_text(header.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    (tree / "docs" / "operators.md").unlink()
    assert main(["--check", "--root", str(tree)]) == 1
    errors = capsys.readouterr().err
    assert "include/diopi/functions_sparse.h is out of date" in errors
    assert "docs/operators.md is out of date" in errors
    assert "functions_ext.h" not in errors
    assert not (tree / "docs" / "operators.md").exists()


def test_writing_repairs_exactly_the_files_that_differ(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = tree / "include" / "diopi" / "types.gen.h"
    wanted = header.read_text(encoding="utf-8")
    header.write_text("", encoding="utf-8")
    assert main(["--root", str(tree)]) == 0
    assert capsys.readouterr().out == "wrote include/diopi/types.gen.h\n"
    assert header.read_text(encoding="utf-8") == wanted


def test_a_change_in_the_schema_reaches_every_output(tree: Path) -> None:
    path = tree / "schema" / "sparse.yaml"
    path.write_text(
        path.read_text(encoding="utf-8")
        .replace("name: mat2", "name: dense")
        .replace("`mat2`", "`dense`"),
        encoding="utf-8",
    )
    texts = generate(tree)
    changed = {
        name for name, text in texts.items() if text != (tree / name).read_text(encoding="utf-8")
    }
    assert {"include/diopi/functions_sparse.h", "src/diopi_proto/_schema_gen.json"} <= changed
    assert "docs/operators.md" in changed
    assert "include/diopi/fingerprints.gen.h" not in changed


def test_run_time_schema_is_the_one_in_yaml() -> None:
    from_yaml = {op.name: op for op in read_schema(ROOT / "schema").operators}
    assert dict(schema.load()) == from_yaml


@pytest.mark.parametrize(
    ("operators", "message"),
    [
        (RELU.replace("op_class: exact", "op_class: precise"), "op_class precise"),
        (RELU.replace("dtypes: real", "dtypes: half"), "'half' in 'half'"),
        (RELU.replace("name: diopiRelu", "name: diopiRelu\n    colour: red"), "keys ['colour']"),
        (RELU.replace("direction: out,", "direction: output,"), "direction output"),
        (RELU.replace("[input]", "[inputs]"), "out cannot alias inputs"),
        (RELU.replace("name: input,", "name: out,"), "two parameters share a name"),
        (RELU.replace("_t}", "_t, direction: out}"), "a const parameter must have direction in"),
        (RELU.replace("_t}", "_t, dtype: like other}"), "names other, which is not a parameter"),
        (RELU.replace("_t}", "_t, dtype: like out in}"), "like takes 1 names"),
        (RELU.replace("_t}", "_t, counted_by: 1}"), "arrays of handles, and nothing else"),
        (
            RELU.replace("op_class", "in_place_of: diopiReluu\n    op_class"),
            "no operator diopiReluu",
        ),
        (RELU.replace("op_class", "header: other.h\n    op_class"), "header other.h"),
        (RELU + RELU, "diopiRelu is defined twice"),
        (STACK.replace("counted_by: count, ", ""), "arrays of handles, and nothing else"),
        (STACK.replace("allocated_by: host", "allocated_by: vendor"), "stores are outputs"),
        (STACK.replace("counted_by: count", "counted_by: number"), "number does not count tensors"),
        (STACK.replace("name: count, type: int64_t", "name: count, type: float"), "count does not"),
        (STACK.replace("int64_t}", "int64_t, dtype: bool}"), "only tensors have a dtype"),
    ],
)
def test_a_wrong_schema_is_refused_with_the_reason(
    small: Path, operators: str, message: str
) -> None:
    with pytest.raises((SchemaError, ValueError)) as caught:
        read_schema(write(small, operators))
    assert message in str(caught.value)


def test_tensors_without_a_rule_follow_the_first_input(small: Path) -> None:
    relu, stack = read_schema(write(small, RELU + STACK)).operators
    assert [p.dtype for p in relu.params] == [None, "like input", "real"]
    assert [p.dtype for p in stack.params] == [None, "like tensors", "all", None]


def test_headers_say_what_the_schema_says(small: Path) -> None:
    text = headers(read_schema(write(small, RELU + STACK)))["diopi/functions.h"]
    assert "@param[out] out dtype like input; may share memory with input" in text
    assert "@param[in] tensors dtype all; array of count */" in text


def test_generated_headers_keep_to_the_line_width() -> None:
    texts = headers(read_schema(ROOT / "schema"))
    long = [line for text in texts.values() for line in text.splitlines() if len(line) > 100]
    assert not [line for line in long if not line.startswith("typedef") and "(" in line]


def test_freezing_adds_new_operators_and_refuses_changed_ones(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    folder = tmp_path / "schema"
    shutil.copy(ROOT / "schema" / "runtime.yaml", folder / "runtime.yaml")
    write(folder, RELU)
    assert [line.split(" ", 1)[1] for line in freeze(tmp_path)] == [
        "diopiError_t diopiRelu(diopiContextHandle_t, diopiTensorHandle_t, "
        "diopiConstTensorHandle_t)"
    ]
    write(folder, RELU + STACK)
    assert len(freeze(tmp_path)) == 1
    assert freeze(tmp_path) == []
    before = (tmp_path / FILE).read_text(encoding="utf-8")
    write(folder, STACK + RELU.replace("_t}", "_t}\n      - {name: slope, type: double}"))
    with pytest.raises(FrozenSignatureError, match="diopiRelu"):
        freeze(tmp_path)
    assert (tmp_path / FILE).read_text(encoding="utf-8") == before


def test_cffi_gets_constants_structs_and_pointer_types(small: Path) -> None:
    parsed = read_schema(write(small, RELU))
    text = declarations(parsed, ROOT / "include", headers(parsed))
    assert "#define DL_CAP_ANY_HOST_POINTER 4" in text
    assert "#define DIOPI_VERSION_MAJOR 1" in text
    assert "typedef diopiError_t (*diopiRelu_fn)(diopiContextHandle_t ctx" in text
    assert "dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out);" in text
    assert "extern" not in text
    assert "static_assert" not in text


def test_cffi_reader_refuses_what_it_does_not_understand(small: Path, tmp_path: Path) -> None:
    parsed = read_schema(write(small, RELU))
    include = tmp_path / "include"
    (include / "dl").mkdir(parents=True)
    (include / "dl" / "odd.h").write_text("#if DL_SOMETHING > 3\n#endif\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"dl/odd\.h: #if .* is not supported"):
        declarations(parsed, include, headers(parsed))


def test_comments_and_prototypes_wrap() -> None:
    assert comment(["One line."]) == "/** One line. */"
    wrapped = comment(["word " * 40, "@param[in] a " + "word " * 30])
    assert all(len(line) <= 100 for line in wrapped.splitlines())
    assert "\n *  @param[in] a" in wrapped
    assert prototype("void f", []) == "void f(void);"
    text = prototype("diopiError_t diopiLong", [f"diopiConstTensorHandle_t p{i}" for i in range(5)])
    assert all(len(line) <= 100 for line in text.splitlines())
    assert text.splitlines()[1].startswith(" " * len("diopiError_t diopiLong("))
