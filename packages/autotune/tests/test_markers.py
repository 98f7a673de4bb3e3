"""Grammar of the markers in a kernel: its forms, their scopes, and every error."""

from __future__ import annotations

import pytest

from dl_autotune import MarkerError
from dl_autotune.spaces.markers import find_markers, substitute

SOURCE = """\
// using Old = 1;  // tunable: LAYOUT
void gemm() {
    constexpr int TILE = 8;  // tunable
    using Layout = RowMajor; //tunable:LAYOUT
    static const unsigned  lanes=4;//  tunable
\tfloat scale[2] = {1, 2};  // tunable
    int untouched = 3;  // not to be tuned
}
"""


def test_values_go_where_the_markers_say() -> None:
    config = {"TILE": 16, "LAYOUT": "using Layout = ColumnMajor;", "lanes": 2, "scale": "{3, 4}"}
    assert (
        substitute(SOURCE, config)
        == """\
// using Old = 1;  // tunable: LAYOUT
void gemm() {
    constexpr int TILE = 16;
    using Layout = ColumnMajor;
    static const unsigned  lanes= 2;
\tfloat scale[2] = {3, 4};
    int untouched = 3;  // not to be tuned
}
"""
    )


def test_only_the_first_sign_counts_and_truth_is_written_as_in_c() -> None:
    assert substitute("  bool on = a == b; // tunable", {"on": True}) == "  bool on = true;"


def test_a_macro_is_defined_as_the_value() -> None:
    source = "#define TILE 8  // tunable\n  # define ON  a == b  // tunable"
    assert substitute(source, {"TILE": 16, "ON": False}) == "#define TILE 16\n  #define ON false"
    kept = substitute(source, {"TILE": 16, "ON": True}, keep_markers=True)
    assert substitute(kept, {"TILE": 8, "ON": 1}) == "#define TILE 8\n  #define ON 1"


def test_markers_are_found_with_lines_and_scopes() -> None:
    found = [(m.key, m.line, m.whole) for m in find_markers(SOURCE)]
    assert found == [
        ("TILE", 3, False), ("LAYOUT", 4, True), ("lanes", 5, False), ("scale", 6, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "keys", "message"),
    [
        ("int a = 1; // tunable", ["a", "b"], r"k\.cpp: key b has no marker.*a \(line 1\)"),
        ("int a = 1; // tunable", ["b"], r"k\.cpp: key b has no marker"),
        ("\nint a = 1; // tunable\nint b = 1; // tunable", ["a"], r"k\.cpp:3: key b is marked"),
        ("int a = 1; // tunable\nint a = 2; // tunable", ["a"], r"k\.cpp:2: key a .* line 1"),
        ("int a = 1; // tunable\nx; // tunable: a", ["a"], r"k\.cpp:2: key a .* line 1"),
        ("foo(3); // tunable", ["foo"], r"k\.cpp:1: .*no 'NAME = value'"),
        ("foo(3); // tunable: a b", ["a"], r"k\.cpp:1: key 'a b' is not a name"),
        ("foo(3); // tunable:", ["a"], r"k\.cpp:1: key '' is not a name"),
        ("int a = 1; // tunable a", ["a"], r"k\.cpp:1: .* is not a marker"),
        ("int a = 1; // Tunable", ["a"], r"k\.cpp:1: .* is not a marker"),
        ("int a = 1; // tuneable", ["a"], r"k\.cpp:1: .* is not a marker"),
        ("int a = 1;\nint b; // tunabel", ["a"], r"k\.cpp:2: .* is not a marker"),
        ("/*\nint a = 1; // tunable\n*/", ["a"], r"k\.cpp:2: key a is inside a block comment"),
    ],
)
def test_mistakes_name_line_and_key(source: str, keys: list[str], message: str) -> None:
    with pytest.raises(MarkerError, match=message):
        substitute(source, dict.fromkeys(keys, 1), "k.cpp")


def test_a_value_cannot_inject_lines() -> None:
    with pytest.raises(MarkerError, match=r"k\.cpp:1: the value of key a has a line break"):
        substitute("int a = 1; // tunable", {"a": "1;\nint b = 2"}, "k.cpp")
