"""Files that are not descriptions: bytes, sizes, depths and types that the generator refuses."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from library_attacks import refused, run
from test_library_generator import LIBRARY, SIGNATURES, project

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
WIDE = f"a: &a [{'x, ' * 2000}]\nb: [{'*a, ' * 2000}]\n"


def short(value: object) -> str:
    """Return the beginning of a value as the name of a case."""
    return repr(value)[:40]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe", ":1: {}: is not UTF-8 at byte 0 (0xff); store it as UTF-8"),
        (b"a: b\nb: \xc3\n", ":2: {}: is not UTF-8 at byte 8 (0xc3)"),
        (b"a: b\nb: \0\n", ":2: {}: is not valid YAML: the character 0x0000 is not allowed"),
        (b"", ":1: {}: is empty; write its entries"),
        (b"# only a comment\n", "is empty"),
        (b"a: [", "is not valid YAML: expected"),
        (b"a: b\n---\na: c\n", "is not valid YAML: but found another document"),
        (b"a: *b\n", "is not valid YAML: found undefined alias 'b'"),
        (b"a: &a [*a]\n", "an alias refers to a value that contains it"),
        (b"%YAML 99999.1\n---\na: b\n", "is not valid YAML"),
        (b'a: "\\UFFFFFFFF"\n', "is not valid YAML"),
        (b"a:\n " + b"[" * 5000, ":2: {}: lists and mappings are nested more than 16 levels deep"),
        (b"a: " + b"{a: " * 5000 + b"b" + b"}" * 5000, "nested more than 16 levels deep"),
        (b"a: " + b"[" * 20 + b"]" * 20, "nested more than 16 levels deep"),
        (BOMB.encode(), "has more than 20000 values, with those that its"),
        (WIDE.encode(), "has more than 20000 values, with those that its aliases repeat"),
        (b"a: " + b" " * 1_000_000 + b"b\n", "has more than 200000 bytes"),
        (b"a: !!python/object/apply:os.system [echo]\n", "the tag '!!python/object/apply:os.sys"),
        (b"a: !x b\n", "the tag '!x' has no meaning; remove it"),
        (b"a: !!set {b}\n", "the tag '!!set' has no meaning"),
        (b"[a, b]: c\n", "a key is not a text"),
        (b"'': c\n", "a key is not a text"),
        (b"text\n", "a mapping is expected here, not 'text'"),
        (b"5\n", "a mapping is expected here, not '5'"),
        (b"null\n", "a mapping is expected here, not nothing"),
        (b"- a\n", "a mapping is expected here, not a list"),
    ],
    ids=short,
)  # fmt: skip
@pytest.mark.parametrize("name", ["library.yaml", "operators/softmax.yaml"])
def test_file_that_is_not_a_description_is_refused(
    tmp_path: Path, text: bytes, message: str, name: str
) -> None:
    folder = project(tmp_path / "toy")
    (folder / name).write_bytes(text)
    found = refused(folder)
    assert message.format(Path(name).name) in found
    # The path is named once.
    assert found.startswith(f"{folder}/{name}:") and found.count(str(folder)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe", ":1: signatures.json: is not UTF-8"),
        (b"", "is not valid JSON: Expecting value; correct it"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"f": {"arguments": ' + b"[" * 100_000, "is nested too deeply"),
        (b'{"f": ' + b"9" * 10_000 + b"}", "an integer has 10000 digits; correct it"),
        (b'{"f": NaN}', "NaN is not a value of JSON"),
        (b'{"f": -Infinity}', "-Infinity is not a value of JSON"),
        (b'{"f": 1e999}', "an object is expected here, not Infinity"),
        (b'{"f": null}', "an object is expected here, not null"),
        (b"3", "must be an object"),
        (b'{"\\ud800": {"arguments": []}}', "is not a name in C"),
        (b'{"": {"arguments": []}}', "functions: '' is not a name in C"),
        (b'{"": {}, "": {}}', "functions: occurs twice"),
        (b" " * 16_000_001, "has more than 16000000 bytes"),
    ],
    ids=short,
)  # fmt: skip
def test_file_that_is_not_a_table_is_refused(tmp_path: Path, text: bytes, message: str) -> None:
    folder = project(tmp_path / "toy")
    (folder / "signatures.json").write_bytes(text)
    found = refused(folder)
    assert message in found and found.startswith(f"{folder}/signatures.json:1: ")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("ndim", ["2", 2], "ndim must be [smallest, largest], two integers from 0 to 64, not ["),
        ("ndim", [2, 1], "ndim must be [smallest, largest]"),
        ("ndim", [-1, 2], "ndim must be [smallest, largest]"),
        ("ndim", [0, 10**15], "ndim must be [smallest, largest]"),
        ("ndim", [True, True], "ndim must be [smallest, largest]"),
        ("ndim", [1, 2, 3], "ndim must be [smallest, largest]"),
        ("ndim", None, "ndim must be [smallest, largest], two integers from 0 to 64, not null"),
        ("ndim", {}, "not an object"),
        ("dtypes", [["float32"]], "dtypes: a text is expected here, not ['float32']"),
        ("dtypes", [{}], "dtypes: a text is expected here, not an object"),
        ("dtypes", [], "dtypes is empty; list what the library documents, or remove the key"),
        ("dtypes", ["int64", "int64"], "dtypes: 'int64' occurs twice"),
        ("dtypes", {}, "dtypes must be a list, not an object"),
        ("formats", [None], "formats: a text is expected here, not null"),
        ("formats", [], "formats is empty"),
        ("formats", 3, "formats must be a list, not 3"),
        ("name", 5, "name must be a text, not 5"),
        ("name", "", "name is empty"),
        ("name", "a b", "'a b' is not a name in C"),
        ("type", None, "type must be a text, not null"),
        ("type", ["int"], "type must be a text, not ['int']"),
        ("io", {}, "io must be a text, not an object"),
        ("io", "out ", "io must be one of in, out, inout, not 'out '; close names: out, inout"),
        ("optional", 1, "optional must be true or false, not 1"),
        ("strided", "no", "strided must be true or false, not 'no'"),
        ("overwritten", None, "overwritten must be true or false, not null"),
        ("descriptor", 7, "descriptor must be a text, not 7"),
    ],
)  # fmt: skip
def test_value_of_another_type_in_the_table_is_refused(
    tmp_path: Path, key: str, value: object, message: str
) -> None:
    folder = project(tmp_path / "toy")
    argument = {"name": "x", "type": "const toyTensor*", key: value}
    (folder / "signatures.json").write_text(json.dumps({"f": {"arguments": [argument]}}))
    assert message in refused(folder)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"arguments": [], "since": 5}, "f: since must be a text, not 5"),
        ({"arguments": [], "workspace": None}, "f: workspace must be a text, not null"),
        ({"arguments": {}}, "f: arguments must be a list, not an object"),
        ({"arguments": "self"}, "f: arguments must be a list, not 'self'"),
        ({"arguments": [[]]}, "f, argument 1: an object is expected here, not []"),
        ({"arguments": [{"name": f"a{n}", "type": "int"} for n in range(128)]},
         "f: has 128 arguments, and the limit is 127"),
        (["arguments"], "f: an object is expected here, not ['arguments']"),
    ],
)  # fmt: skip
def test_function_of_another_type_is_refused(tmp_path: Path, entry: object, message: str) -> None:
    folder = project(tmp_path / "toy")
    (folder / "signatures.json").write_text(json.dumps({"f": entry}))
    assert message in refused(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("signatures", '"a\\0b"', "signatures: 'a\\x00b' is not one line of printable characters"),
        ("signatures", "a" * 300, "cannot be read: File name too long"),
        ("signatures", "operators", "operators: is not a file; name a file"),
        ("signatures", "library.yaml/x", "cannot be read: Not a directory"),
        ("signatures", "missing.json", "cannot be read: No such file or directory"),
        ("signatures", "pipe", "pipe: is not a file"),
        ("signatures", "loop", "loop: cannot be read: Too many levels of symbolic links"),
        ("signatures", "/dev/zero", "zero: is not a file"),
        ("signatures", "[a.json, b.json]", "signatures: a text is expected here, not a list"),
    ],
    ids=short,
)  # fmt: skip
def test_path_that_cannot_be_read_is_refused(
    tmp_path: Path, key: str, value: str, message: str
) -> None:
    folder = project(tmp_path / "toy")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    with (folder / "library.yaml").open("a") as file:
        file.write(f"{key}: {value}\n")
    assert message in refused(folder)


def test_folder_that_does_not_exist_is_named_once(tmp_path: Path) -> None:
    status, lines = run(tmp_path / "missing")
    assert status == 1
    message = "library.yaml: cannot be read: No such file or directory; correct the path"
    assert lines[0].startswith(f"{tmp_path}/missing/library.yaml:1: {message}")


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("softmax.yml", "rename it to softmax.yaml"),
        ("softmax.YAML", "rename it to softmax.yaml"),
        ("softmax.json", "rename it to softmax.yaml"),
        ("more/softmax.yaml", "move it to operators/"),
    ],
)
def test_file_that_is_not_read_is_reported(tmp_path: Path, path: str, remedy: str) -> None:
    folder = project(tmp_path / "toy")
    file = folder / "operators" / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("diopiSoftmax: 'toySoftmax(input, dim, out)'\n")
    assert f"operators/{path}:1: {file.name}: is not read" in (found := refused(folder))
    assert remedy in found


def test_folder_in_place_of_a_description_is_reported(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy")
    (folder / "operators" / "add.yaml").mkdir()
    assert "operators/add.yaml:1: add.yaml: is not a file" in refused(folder)


def test_library_without_operators_is_reported(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy")
    for file in (folder / "operators").iterdir():
        file.unlink()
    assert "operators: no operator is described; add operators/FAMILY.yaml" in refused(folder)


# Each value of library.yaml that is something else than its type.
WRONG_TYPES = [
    ("name: toy", "name: 5", "name: a text is expected here, not '5'; correct it, or write it in"),
    ("name: toy", "name: [toy]", "name: a text is expected here, not a list"),
    ("name: toy", "name:", "name: the value is empty"),
    ("shape: two_phase", "shape: true", "shape: a text is expected here, not 'true'"),
    ("open: [libtoy.so]", "open: {a: b}", "open: a list is expected here, not a mapping"),
    ("open: [libtoy.so]", "open: [5]", "open: a text is expected here, not '5'"),
    ("open: [libtoy.so]", "open: [[libtoy.so]]", "open: a text is expected here, not a list"),
    ("headers: [own.h]", "headers: [null]", "headers: the value is empty"),
    ("headers: [own.h]", "headers: 1.5", "headers: a text is expected here, not '1.5'"),
    ("float32: 0", "float32: '0'", "dtypes: an integer is expected here, not '0'"),
    ("float32: 0", "float32: 0.5", "dtypes: an integer is expected here, not '0.5'"),
    ("float32: 0", "float32: true", "dtypes: an integer is expected here, not 'true'"),
    ("float32: 0", "float32: 010", "dtypes: an integer is expected here, not '010'"),
    ("float32: 0", "float32: 1:30", "dtypes: an integer is expected here, not '1:30'"),
    ("float32: 0", f"float32: {'9' * 10_000}", "dtypes: an integer is expected here, not '9999"),
    ("float32: 0", "float32: 99999999999", "float32 has the number 99999999999, which does not"),
    ("float32: 0", "float32: 2147483648", "has the number 2147483648, which does not fit C's int"),
    ("float32: 0", "float32: 64", "has the number 64, and a fake library takes numbers below 64"),
    ("ND: 2", "ND: 100", "has the number 100, and a fake library takes numbers below 64"),
    ("ND: 2", "ND: 2001-99-99", "formats: an integer is expected here, not '2001-99-99'"),
    ("4: NCHW", "04: NCHW", "unknown key '04'; the keys are numbers of dimensions up to 8"),
    ("4: NCHW", "٤: NCHW", "unknown key '٤'; the keys are numbers"),
    ("4: NCHW", "four: NCHW", "unknown key 'four'; the keys are numbers"),
    ("4: NCHW", "-1: NCHW", "unknown key '-1'; the keys are numbers"),
    ("4: NCHW", "4: 0", "format: a text is expected here, not '0'"),
    ("context: true", "context: 1", "true or false is expected here, not '1'; write one"),
    ("executor: toyExecutor", "executor: 1", "executor: a text is expected here"),
    ("copy: toyCopy", "copy: toyRelu", ""),
    ("copy: toyCopy", "copy: toyAdd", "copy: toyAdd takes (self: tensor, in, other: tensor, in, "
     "alpha: scalar, in, out: tensor, out); name a function of two tensors"),
    ("copy: toyCopy", "copy: toyFill", "toyFill takes (self: tensor, out, value: scalar, in)"),
    ("copy: toyCopy", "copy: ''", "copy: the value is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG_TYPES, ids=short)
def test_value_of_another_type_in_the_library_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = project(tmp_path / "toy")
    assert old in LIBRARY
    (folder / "library.yaml").write_text(LIBRARY.replace(old, new))
    if not message:
        assert run(folder)[0] == 0
        return
    found = refused(folder)
    assert message in found and re.match(rf"{folder}/library.yaml:\d+: ", found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("open: [libtoy.so]", "open: libtoy.so"),
        ("headers: [own.h]", "headers: own.h"),
        ("float32: 0", "float32: 0x0"),
    ],
)
def test_shorter_and_other_spellings_mean_the_same(tmp_path: Path, old: str, new: str) -> None:
    texts = []
    for name, text in (("first", LIBRARY), ("second", LIBRARY.replace(old, new))):
        folder = project(tmp_path / name / "toy")
        (folder / "library.yaml").write_text(text)
        assert run(folder)[0] == 0
        texts.append([file.read_bytes() for file in sorted((folder / "generated").iterdir())])
    assert texts[0] == texts[1] and SIGNATURES


def test_findings_are_limited(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy")
    entries = "".join(f"diopiSoftmay{n}: x\n" for n in range(5000))
    (folder / "operators" / "softmax.yaml").write_text(entries)
    status, lines = run(folder)
    assert status == 1 and lines[-1] == "200 or more findings; nothing is written"
    assert len(lines) == 201


def test_missing_folder_of_operators_is_named(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy")
    for file in (folder / "operators").iterdir():
        file.unlink()
    (folder / "operators").rmdir()
    found = refused(folder)
    assert "operators:1: operators: cannot be read: No such file or directory" in found
    (folder / "operators").write_text("")
    assert "operators: cannot be read: Not a directory" in refused(folder)
