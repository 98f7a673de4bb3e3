"""Adaptor files: the rules of valid files, and the errors for invalid ones."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from diopi_proto import AdaptorError, load_vendor, schema
from diopi_proto.adaptor import AdaptorFile, read_adaptor
from diopi_proto.adaptor.mappings import Entries, MappingError, read_mappings

EXAMPLE = """\
# A chip without int64 and float64, whose convolutions require channels-last.
version: 1
all:
  cast: {float64: float32}
operators:
  diopiIndexSelect:          # indices only
    parameters:
      index: {cast: {int64: int32}}
  "diopiMaxPool2d*":
    layout: channels_last
    cast:
      int64: int32
  diopiMaxPool2dWithIndices: {parameters: {indices: {layout: 'contiguous'}}}
  diopiConvolution2d:
    layout: "channels_last"
  diopiAdd: {cast: {float64: float64, uint8: int32}, wrap: true}
"""


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def reader(text: str) -> AdaptorFile:
        path = tmp_path / "adaptor.yaml"
        path.write_text(text, encoding="utf-8")
        return read_adaptor(path)

    return reader


def as_words(value: Any) -> Any:
    """Parse with PyYAML, in the form of the parser under test."""
    if isinstance(value, dict):
        return {str(key): as_words(entry) for key, entry in value.items()}
    if value is None:
        return {}
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_data(value: Entries | str) -> Any:
    if isinstance(value, str):
        return value
    return {key: as_data(entry) for key, entry in value.values.items()}


@pytest.mark.parametrize(
    "text",
    [
        EXAMPLE,
        "",
        "---\na: b\n",
        "a:\n    b: c\n    d:\n      e: f\ng: {}\n",
        "a: {b: {c: d, e: f}, 'g h': i}   # after\n\n#c\nj:\nk: l\n",
        "a: 'x # y'\nb: z-w\n",
        "  a: b\n  c: d\n",
    ],
)
def test_it_is_read_as_any_reader_of_yaml_reads_it(text: str) -> None:
    assert as_data(read_mappings(text)) == as_words(yaml.safe_load(text))


def test_a_text_with_a_slip_is_refused_or_read_as_yaml_reads_it() -> None:
    slips, read = random.Random(7), 0
    for _ in range(3000):
        text, at = EXAMPLE, slips.randrange(len(EXAMPLE))
        more = slips.choice(["", " ", "\n", ":", "{", "}", ",", "#", "'", "- ", "*", "?", "\t"])
        text = text[:at] + more + text[at + slips.randrange(2) :]
        try:
            found = as_data(read_mappings(text))
        except MappingError as error:
            assert 1 <= error.line <= text.count("\n") + 1  # noqa: PT017 - most of them are
            continue
        read += 1
        assert found == as_words(yaml.safe_load(text)), text
    assert read > 500


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: b\n\tc: d\n", 2, "tab"),
        ("a:\n  - b\n", 2, "list"),
        ("a: [b]\n", 1, "list"),
        ("a: &x b\n", 1, "anchor"),
        ("*a: b\n", 1, "quote"),
        ("a: |\n  b\n", 1, "several lines"),
        ("a: b\n  c: d\n", 2, "indented by 2 spaces"),
        ("a:\n    b: c\n  d: e\n", 3, "indented by 2 spaces"),
        ("  a: b\nc: d\n", 2, "less than the first"),
        ("a: b\na: c\n", 2, "the key a occurs twice; first on line 1"),
        ("a: {b: c, b: d}\n", 1, "twice"),
        ("a: {b: c\n", 1, "not closed"),
        ("a: {b: c} d\n", 1, "follows the value"),
        ("a:b\n", 1, "not followed by a colon"),
        ("a b: c\n", 1, "not followed by a colon"),
        ("a: b c\n", 1, "follows the value"),
        ("a: {b}\n", 1, "not followed by a colon"),
        ("a: 'b\n", 1, "expected a word"),
        ("a: !!str b\n", 1, "tag"),
        ("a\n", 1, "not followed by a colon"),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(MappingError, match=words) as caught:
        read_mappings(text)
    assert caught.value.line == line


def test_an_operators_own_goes_before_its_pattern_and_that_before_all(read: Any) -> None:
    file = read(EXAMPLE)
    pool = file.rules["diopiMaxPool2dWithIndices"]
    assert pool["input"].cast == {"float64": "float32", "int64": "int32"}
    assert pool["input"].layout == "channels_last"
    assert pool["indices"].cast == {"int64": "int32"}
    assert pool["indices"].layout == "contiguous"
    assert file.rules["diopiMaxPool2d"]["out"].layout == "channels_last"
    select = file.rules["diopiIndexSelect"]
    assert select["index"].cast == {"int64": "int32"}
    assert select["input"].cast == {"float64": "float32"}
    # Not cast, in spite of the setting for all operators.
    assert file.rules["diopiAdd"]["input"].cast == {"uint8": "int32"}
    assert file.rules["diopiAdd"]["out"].wrap
    assert not file.vendor_checks
    assert file.computed_in("diopiAdd", "input", "uint8") == "int32"
    assert file.computed_in("diopiAdd", "input", "float64") == "float64"
    assert file.computed_in("diopiRelu", "input", "float64") == "float32"
    assert "float64→float32" in file.summary()


def test_the_example_of_the_page_is_a_good_one(read: Any) -> None:
    page = (Path(__file__).parents[1] / "docs" / "adaptor.md").read_text(encoding="utf-8")
    file = read(page.partition("```yaml\n")[2].partition("```")[0])
    assert file.rules["diopiConvolution2d"]["bias"].layout == "contiguous"
    assert file.rules["diopiNonzero"]["out"].cast == {"int64": "int32"}
    assert file.rules["diopiIndexSelect"].keys() == {"index"}


def test_what_is_asked_of_all_leaves_out_what_conversions_are_made_of(read: Any) -> None:
    file = read("version: 1\nall: {cast: {int64: int32}, layout: contiguous}\n")
    assert "diopiCastDtype" not in file.rules
    assert "diopiCopyInp" not in file.rules
    assert file.rules["diopiNonzero"]["out"].cast == {"int64": "int32"}
    assert file.rules["diopiNonzero"]["out"].layout == "any"  # the operator chooses its format
    # Sparse tensors are not adapted.
    assert "input" not in file.rules["diopiSpMM"]


def test_there_is_a_rule_for_every_kind_of_tensor_parameter(read: Any) -> None:
    file = read("version: 1\nall: {layout: contiguous}\n")
    for operator in schema.load().values():
        counted = [
            p for p in operator.params if p.is_tensor_pointer and isinstance(p.counted_by, str)
        ]
        # The C++ reads the count as one.
        assert all(operator.parameter(str(p.counted_by)).type == "int64_t" for p in counted)
        stored = {p.dtype for p in operator.params if p.allocated_by == "vendor"}
        assert all(d == "any" or d in schema.DTYPES or str(d).startswith("like ") for d in stored)
    assert len(file.rules) > 500


ONE = "version: 1\noperators:\n  diopiAdd:\n    "


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "all: {layout: contiguous}\n",
            1,
            "`version: 1`, the version of the file format, is missing",
        ),
        ("version: 2\n", 1, "reads version 1, not 2; install"),
        ("version: 1\nal: {}\n", 2, "al: unknown key; did you mean all?"),
        ("version: 1\nall: {cats: {}}\n", 2, "all.cats: .*did you mean cast?"),
        ("version: 1\nall: yes\n", 2, "got 'yes', expected keys and values"),
        ("version: {}\n", 1, "version: got keys and values, expected one word"),
        ("version: 1\noverflow: device\n", 2, "expected one of host, vendor"),
        ("version: 1\noperators:\n  diopiAd: {}\n", 3, r"operators\.diopiAd: .* mean diopiAdd?"),
        ("version: 1\noperators:\n  'diopiAdz*': {}\n", 3, "no operator of the contract"),
        ("version: 1\noperators:\n  diopiCopyInp: {}\n", 3, "cannot adapt it"),
        ("version: 1\noperators:\n  diopiAdd: int32\n", 3, "expected keys and values"),
        (f"{ONE}layout: nhwc\n", 4, r"diopiAdd\.layout: got nhwc, expected one of any, contiguous"),
        (f"{ONE}layout: channels-last\n", 4, "did you mean channels_last?"),
        (f"{ONE}wrap: yes\n", 4, "wrap: got yes, expected one of true, false"),
        (f"{ONE}cast: {{int46: int32}}\n", 4, "int46 is not a dtype; did you mean int64?"),
        (
            f"{ONE}cast: {{int64: long}}\n",
            4,
            r"cast\.int64: long is not a dtype; the dtypes are "
            r"int8",
        ),
        (
            f"{ONE}cast:\n      int32: int64\n      int64: float32\n",
            6,
            "int64 cannot be cast to float32, which is another kind of number; possible dtypes",
        ),
        (f"{ONE}cast: {{int64: bool}}\n", 4, "int64 cannot be cast to bool"),
        (f"{ONE}cast: {{tfloat32: float32}}\n", 4, "no tensor here can be tfloat32"),
        (
            f"{ONE}parameters: {{output: {{}}}}\n",
            4,
            r"parameters\.output: .*tensors are out, input",
        ),
        (f"{ONE}parameters: {{alpha: {{}}}}\n", 4, "the operator has no such tensor"),
        (f"{ONE}parameters: {{out: {{parameters: {{}}}}}}\n", 4, "unknown key"),
        (
            "version: 1\noperators:\n  diopiIndexSelect:\n    parameters:\n      index:\n"
            "        cast: {float64: float32}\n",
            6,
            r"index\.cast\.float64: this tensor is never float64; it can be int32, int64",
        ),
        ("version: 1\nall:\n\tcast: {}\n", 3, "tab"),
    ],
)
def test_errors_name_the_file_the_line_and_the_remedy(
    read: Any, text: str, line: int, words: str
) -> None:
    with pytest.raises(AdaptorError, match=words) as caught:
        read(text)
    assert f"adaptor.yaml:{line}: " in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AdaptorError, match=r"absent\.yaml: the adaptor file cannot be read"):
        read_adaptor(tmp_path / "absent.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(AdaptorError, match="cannot be read"):
        read_adaptor(tmp_path / "bytes.yaml")


HOSTILE = {
    "nested braces": ("a: " + "{b: " * 50_000, 1, "deeper than 16 levels"),
    "nested blocks": ("".join(f"{' ' * n}a:\n" for n in range(700)), 16, "deeper than 16 levels"),
    "keys without end": ("".join(f"a{n}: b\n" for n in range(30_000)), 20_001, "20,000 keys"),
    "a long word": (f"{'a' * 1000}: b\n", 1, "longer than 200 characters"),
    "a long value": (f"a: {'b' * 1000}\n", 1, "longer than 200 characters"),
    "a long rest": (f"a: b {'c' * 1000}\n", 1, "follows the value"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_made_to_exhaust_its_reader_is_refused(kind: str, read: Any) -> None:
    text, line, words = HOSTILE[kind]
    with pytest.raises(AdaptorError, match=words) as caught:
        read(text)
    assert f"adaptor.yaml:{line}: " in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_file_of_many_patterns_is_refused(read: Any) -> None:
    patterns = "".join(f'  "diopi*{n}": {{}}\n' for n in range(10_000))
    with pytest.raises(AdaptorError, match="more than 200 patterns"):
        read(f"version: 1\noperators:\n{patterns}")


def test_only_a_regular_file_of_a_sensible_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "adaptor.yaml"
    os.mkfifo(path)
    with pytest.raises(AdaptorError, match=r"cannot be read: .* is a FIFO"):
        read_adaptor(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(AdaptorError, match=r"cannot be read: .* is a character device"):
        read_adaptor(path)
    path.unlink()
    path.write_text("#" * (1 << 20) + "\nversion: 1\n", encoding="utf-8")
    with pytest.raises(AdaptorError, match="the limit is 1,048,576"):
        read_adaptor(path)


def test_libraries_in_diopis_own_style_have_none(tmp_path: Path) -> None:
    path = tmp_path / "adaptor.yaml"
    path.write_text("version: 1\n", encoding="utf-8")
    with pytest.raises(AdaptorError, match="does not support adaptors; give it a vendor table"):
        load_vendor(tmp_path / "lib.so", legacy=True, adaptor=path)
