"""Unknown names and keys in the data of a library: the line, close names and the remedy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dl_vendor_kit.library.loading import load
from dl_vendor_kit.library.located import DataError
from test_library_generator import LIBRARY, OPERATORS, SIGNATURES, findings, project

CALL = "call: 'toyAdd(input, other, alpha, out)'"


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        ("{call: 'toyAdd(inptu, other, alpha, out)'}",
         ("'inptu' is not a parameter", "close names: input", "write texts as 'sum'")),
        ("{call: 'toyAdd(input, other, alpha, ouput)'}", ("close names: out",)),
        ("{call: 'toyad(input, other, alpha, out)'}",
         ("toyad is not in the signature table", "close names: toyAdd", "add the function to")),
        ("{needs: toySoftMax, CALL}", ("close names: toySoftmax",)),
        ("{call: 'toyAdd(@maks(input), other, alpha, out)'}",
         ("@maks is not a helper", "close names: @mask", "under 'helpers' of library.yaml")),
        ("{call: 'toyAdd(flat2(input), other, alpha, out)'}", ("close names: flat2d",)),
        ("{call: 'toyAdd($sums, other, alpha, out)', temporaries: {sum: like input}}",
         ("no temporary $sums is declared", "close names: $sum", "under 'temporaries'")),
        ("\n  {CALL,\n   unusd: [out]}", (":3:", "unknown key 'unusd'; close names: unused")),
        ("\n  {CALL,\n   format: {inputs: ND}}", (":3:", "'inputs' is not a tensor; close names")),
        ("\n  {CALL,\n   format: {input: NDD}}", (":3:", "'NDD' is not one of", "close names: ND")),
        ("\n  {CALL,\n   dtypes: {inputs: [int64]}}", (":3:", "close names: input; choose from")),
        ("\n  {CALL,\n   dtypes: {input: [float]}}", (":3:", "close names: float", "the dtypes")),
        ("{CALL, contiguous: [othr]}", ("'othr' is not a tensor; close names: other",)),
        ("{CALL, upcast: [othr]}", ("'othr' is not a tensor; close names: other",)),
        ("{CALL, unused: [alhpa]}", ("'alhpa' is not a parameter; close names: alpha",)),
        ("{CALL, workspace: {toyAd: toyCopy(input)}}",
         ("workspace: toyAd is not called; close names: toyAdd",)),
    ],
)  # fmt: skip
def test_unknown_name_comes_with_close_ones(
    tmp_path: Path, entry: str, parts: tuple[str, ...]
) -> None:
    text = f"diopiAdd: {entry.replace('CALL', CALL)}\n"
    (found,) = findings(project(tmp_path / "toy", arithmetic=text))
    assert found.startswith("toy/operators/arithmetic.yaml:")
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sources: generated", "source: generated",
         "library.yaml:13: outputs: unknown key 'source'; close names: sources"),
        ("executor:", "executer:", "library.yaml:4: library.yaml: unknown key 'executer'; close"),
        ("context: true", "contxt: true", "helper @precise: unknown key 'contxt'; close names:"),
        ("context: true", "context: maybe", "helper @precise: true or false is expected"),
        ("returns: int", "returns: ints", ""),
        ("returns: int", "returns: ints*", "'ints*' is not a kind of value; close names: ints"),
        ("returns: int", "returns: itn", "'itn' is not a kind of value; close names: int"),
        ("{format: {4:", "{formats: {4:", "defaults: unknown key 'formats'; close names: format"),
        ("{4: NCHW", "{9: NCHW", "unknown key '9'; the keys are numbers of dimensions up to 8"),
        ("4: NCHW", "4: NCWH", "close names: NCHW; correct the name, or add it to 'formats'"),
        ("copy: toyCopy", "copy: toycopy", "close names: toyCopy, toyCat; correct the name"),
        ("{float32: 0", "{flaot32: 0", "'flaot32' is not a dtype; close names: float32"),
        ("toyDtype: dtype", "toyDtype: dytpe", "close names: dtype"),
        ("shape: two_phase", "shape: two_phases", "close names: two_phase"),
    ],
)  # fmt: skip
def test_unknown_name_in_the_library_comes_with_close_ones(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = project(tmp_path / "toy")
    assert old in LIBRARY
    (folder / "library.yaml").write_text(LIBRARY.replace(old, new))
    if not message:
        load(folder, "toy")
        return
    with pytest.raises(DataError, match=re.escape(message)) as raised:
        load(folder, "toy")
    assert str(raised.value).startswith("toy/library.yaml:")


ARGUMENT = {"name": "x", "type": "int"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (json.dumps({"f": {"argument": [], "arguments": []}}),
         "unknown key 'argument'; close names: arguments"),
        (json.dumps({"f": {"arguments": [{**ARGUMENT, "option": True}]}}),
         "f, argument x: unknown key 'option'; close names: optional"),
        (json.dumps({"f": {"arguments": [{**ARGUMENT, "optional": "no"}]}}),
         "f, argument x: optional must be true or false"),
        (json.dumps({"f": {"arguments": [{**ARGUMENT, "dtypes": "int64"}]}}),
         "f, argument x: dtypes must be a list"),
        (json.dumps({"f": {"arguments": [{**ARGUMENT, "dtypes": ["int46"]}]}}),
         "'int46' is not a dtype of the contract; close names: int64"),
        (json.dumps({"f": {"arguments": [{**ARGUMENT, "name": "xy", "descriptor": "xyz"}]}}),
         "xy: no argument is named 'xyz'; close names: xy"),
        ('{\n"f": {"arguments": []},\n"f": {"arguments": []}}',
         "signatures.json:2: f: occurs twice in this table; remove one"),
        ('{"f": {"arguments": [{"name": "x", "type": "int", "type": "bool"}]}}',
         "f, argument x: the key 'type' occurs twice; remove one"),
    ],
)  # fmt: skip
def test_unknown_name_in_the_signatures_comes_with_close_ones(
    tmp_path: Path, entry: str, message: str
) -> None:
    folder = project(tmp_path / "toy")
    (folder / "signatures.json").write_text(entry)
    with pytest.raises(DataError, match=re.escape(message)):
        load(folder, "toy")


def signatures_with(folder: Path, name: str, position: int, **changes: object) -> Path:
    """Write the project with one changed argument of a function."""
    project(folder)
    table = {key: {"arguments": list(arguments)} for key, arguments in SIGNATURES.items()}
    table[name]["arguments"][position] = {**table[name]["arguments"][position], **changes}
    (folder / "signatures.json").write_text(json.dumps(table, indent=1))
    return folder


def test_type_without_a_kind_is_named(tmp_path: Path) -> None:
    folder = signatures_with(tmp_path / "toy", "toyAdd", 0, type="const toyTensr*")
    (found,) = findings(folder)
    assert "toyAdd, argument self" in found
    assert "the type const toyTensr* has no kind; close names: const toyTensor*" in found
    assert "add it to 'types' of library.yaml" in found


def test_unknown_format_in_the_signatures_is_named(tmp_path: Path) -> None:
    folder = signatures_with(tmp_path / "toy", "toyRelu", 0, formats=["ND", "NCWH"])
    (found,) = findings(folder)
    lines = (folder / "signatures.json").read_text().splitlines()
    line = next(i for i, text in enumerate(lines, start=1) if '"toyRelu"' in text)
    assert found.startswith(f"toy/signatures.json:{line}: toyRelu, argument self: 'NCWH' is not")
    assert "close names: NCHW" in found and OPERATORS
