"""Expressions and cases that mean nothing, or something else than they seem to, are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dl_vendor_kit.library.expressions import ExpressionError, parse, parse_step
from dl_vendor_kit.library.syntax import Call, Items, Literal, Name, Operation, Temporary
from library_attacks import refused, run
from test_library_generator import project

LONG = f"toyAdd(input, other, @scalar({' + '.join(['1'] * 30)} + unknown), out)"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("f(" * 2000, 80, "is nested more than 40 levels deep; divide it, or write a helper"),
        ("[" * 4000, 40, "is nested more than 40 levels deep"),
        ("-" * 4000 + "1", 40, "is nested more than 40 levels deep"),
        ("not " * 1000 + "x", 160, "is nested more than 40 levels deep"),
        ("+".join("x" * 100), 0, "is nested more than 40 levels deep"),
        ("x" + "[0]" * 100, 0, "is nested more than 40 levels deep"),
        ("x" * 5000, 0, "has 5000 characters, and the limit is 4096; divide it"),
        (" " * 1_000_000, 0, "has 1000000 characters, and the limit is 4096"),
        ("", 0, "cannot be read: it is incomplete"),
        ("f(a", 1, "cannot be read: '(' is not closed; add ')'"),
        ("[a", 0, "cannot be read: '[' is not closed; add ']'"),
        ("f(a]", 3, "cannot be read: ']' is not part of an expression here; see the grammar"),
        ("a)", 1, "cannot be read: ')' is not part of an expression here"),
        ("a # b", 2, "cannot be read: '#' is not part of an expression here"),
        ("a\0", 1, "cannot be read: '\\x00' is not part of an expression here"),
        ("\uff49nput", 0, "cannot be read: '\uff49' is not part of an expression here"),
        ("ﬁ", 0, "cannot be read: 'ﬁ' is not part of an expression here"),
        ("τx", 0, "cannot be read: 'τ' is not part of an expression here"),
        ("a²", 1, "cannot be read: '²' is not"),
        ("a = b", 2, "'=' is not part of an expression; write == to compare"),
        ("(a := b)", 3, "':' is not part"),
        ("a ** b", 3, "'*' is not part"),
        ("a % b", 2, "'%' is not part"),
        ("f'{a}'", 1, "is not part"),
        ("'a' 'b'", 4, "is not part"),
        ("'a", 0, "a text has no closing quote; add it"),
        ("'a\\n'", 0, "a text contains a backslash; texts have no escape sequences"),
        ("lambda: 1", 6, "':' is not part"),
        ("1(a)", 1, "'(' is not part of an expression here"),
        ("'a'(b)", 3, "'(' is not part"),
        ("(f)(a)", 3, "'(' is not part"),
        ("f(a)(b)", 4, "'(' is not part"),
        ("null(a)", 4, "'(' is not part"),
        ("$a(b)", 0, "$a is a temporary, not a function"),
        ("a.shape", 2, "'shape' is not part"),
        ("f(a, *b)", 5, "'*' is not part"),
        ("f(a=b)", 3, "write == to compare"),
        ("f(,)", 2, "',' is not part"),
        ("a if b else c", 2, "'if' is not part of an expression here"),
        ("a < b < c", 0, "compare two values; join comparisons with 'and'"),
        ("a == not b", 5, "'not' is not part"),
        ("9223372036854775808", 0, "the integer does not fit 64 bits"),
        ("9" * 4000, 0, "the integer does not fit 64 bits; write a smaller one, or 1e30"),
        ("1e999", 0, "the number is too large for a double; correct it"),
        ("1_000", 0, "'1_000' is not a number; write decimal digits"),
        ("0x10", 0, "'0x10' is not a number"),
        ("1j", 0, "'1j' is not a number"),
        ("010", 0, "a number begins with 0; remove the zeros"),
        ("1if x", 0, "'1if x' is not a number"),
        ("...", 0, "'.' is not part of an expression"),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_text_that_is_not_an_expression_is_refused(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(text)
    assert message in str(raised.value) and raised.value.column == column


def test_grammar_is_that_of_the_documentation() -> None:
    x, y = Name(0, "x"), Name(5, "y")
    assert parse("x.dtype") == Call(0, "dtype", False, (x,))
    assert parse("x and y") == parse(" x and y ".strip())
    assert parse("x or  y") == Operation(0, "or", (x, Name(6, "y")))
    assert parse("not x") == Operation(0, "not", (Name(4, "x"),))
    assert parse("x - y * 2 - 1") == Operation(
        0,
        "-",
        (
            Operation(0, "-", (x, Operation(4, "*", (Name(4, "y"), Literal(8, 2))))),
            Literal(12, 1),
        ),
    )
    assert parse("x in (1,)") == Operation(0, "in", (x, Items(5, (Literal(6, 1),))))
    assert parse("x not in [1]") == Operation(0, "not in", (x, Items(9, (Literal(10, 1),))))
    assert parse("(x)") == Name(1, "x")
    assert parse("[-1, .5, 1e3, 'a b', \"c\"]") == Items(
        0,
        (Literal(1, -1), Literal(5, 0.5), Literal(9, 1000.0), Literal(14, "a b"), Literal(21, "c")),
    )
    assert parse("@mask") == Call(0, "mask", True, ())
    assert parse("@f($t)") == Call(0, "f", True, (Temporary(3, "t"),))
    assert parse("x and\n  y") == Operation(0, "and", (x, Name(8, "y")))
    assert parse("x == y") == Operation(0, "==", (x, y))


def test_condition_of_a_call_has_the_columns_of_the_whole_text() -> None:
    step = parse_step("f('a if b') if x")
    assert step.call == Call(0, "f", False, (Literal(2, "a if b"),))
    assert step.condition == Name(15, "x")


CALL = "call: 'toyAdd(input, other, alpha, out)'"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (f'"{LONG}"', "case 1, toyAdd, argument alpha: …"),
        ("'toyAdd(input, other, @scalar(9223372036854775807 + 1), out)'",
         "the integer does not fit 64 bits; compute with smaller ones"),
        ("'toyAdd(input, other, @scalar(1e308 * 10), out)'",
         "the number is too large for a double; compute with smaller ones"),
        ("'toyAdd(input, other, @scalar(1 // 0), out)'", "divides by zero; correct the divisor"),
        ("'toyAdd(input, other, @scalar(size(input, 0) / (2 - 2)), out)'", "divides by zero"),
        ("{when: true, CALL}", "the condition is always true; remove it"),
        ("{when: 'false', CALL}", "the condition is always false; remove the entry"),
        ("{when: 5, CALL}", "a condition must be a boolean or a parameter that may be NULL"),
        ("{when: [alpha], CALL}", "a text is expected here, not a list; write one value"),
        ("{when: null, CALL}", "the value is empty; write a text, or remove the key"),
        ("'toyAdd(input, other, alpha, out) if true'", "the condition is always true; remove it"),
        ("'toyAdd(input, other, alpha, out) if dtype(input) == dtype(input)'",
         "the comparison is always true, because the contract gives input and input the same"),
        ("{each: -1, CALL}", "each is -1; write 1 or more, or remove it"),
        ("{each: 0, CALL}", "each is 0; write 1 or more"),
        ("{each: 1 - 1, CALL}", "each is 0; write 1 or more"),
        ("{each: 1.5, CALL}", "each must be an integer, not double; write the number"),
        ("{temporaries: {x: 'float32 [2, -3]'}, CALL}", "a size is negative; write 0 or more"),
        ("{temporaries: {x: 'float32 [2, 1 - 3]'}, CALL}", "a size is negative"),
        ("{temporaries: {x: 5}, CALL}", "must be 'like x', 'DTYPE like x', 'DTYPE [sizes]' or a"),
        ("{temporaries: text, CALL}", "a mapping is expected here, not 'text'"),
        ("{unused: [alpha], CALL}", "unused: the case uses alpha; remove it from 'unused'"),
        ("{unused: [], CALL}", "unused: the list is empty; add a name, or remove it"),
        ("{upcast: [input, input], CALL}", "upcast: 'input' occurs twice; remove one"),
        ("{contiguous: [input, input], CALL}", "contiguous: 'input' occurs twice"),
        ("{needs: [toyRelu, toyRelu], CALL}", "needs: 'toyRelu' occurs twice"),
        ("{needs: [5], CALL}", "a text is expected here, not '5'; correct it, or write it in"),
        ("{dtypes: {input: []}, CALL}", "dtypes of input: the list is empty"),
        ("{dtypes: {input: [float32, float32]}, CALL}", "dtypes of input: 'float32' occurs twice"),
        ("{dtypes: {input: {float32: 1}}, CALL}", "a list is expected here, not a mapping"),
        ("{dtypes: [float32], CALL}", "a mapping is expected here, not a list"),
        ("{format: {'': ND}, CALL}", "a key is not a text; keys are names"),
        ("{format: [ND], CALL}", "a text is expected here, not a list"),
        ("{workspace: 'toyCopy(out, input) if alpha', CALL}", "workspace: a size has no condition"),
        ("{workspace: {'': toyCopy}, CALL}", "a key is not a text"),
        ("[{CALL}, {CALL}]", "case 2: is the same as case 1, after which it is never tried"),
        ("{function: ''}", "the value is empty; write a text, or remove the key"),
        ("{function: 'a::class'}", "'a::class' is not a C++ function"),
        ("{function: [f]}", "a text is expected here, not a list"),
        ("{function: f, unused: [alpha]}", "only 'when', 'needs' and 'dtypes' are valid; remove "
         "'unused', or write calls"),
        ("{function: f, workspace: '@x'}", "remove 'workspace', or write calls"),
        ("{calls: []}", "'calls' is empty; add a call"),
        ("{call: ['toyAdd(input, other, alpha, out)']}", "a text is expected here, not a list"),
        ("{call: x, function: f}", "'function': has call and function; remove one"),
        ("{when: alpha}", "needs exactly one of 'call', 'calls', 'function': add one"),
        ("'toyAdd(size, other, alpha, out)'", "'size' is not a parameter of the operator"),
        ("'toyAdd(@foo(input), other, alpha, out)'",
         "@foo is not a helper or view; the known names include @precise, @draw_multinomial"),
        ("'toyAdd(mask(input), other, alpha, out)'", "mask is written @mask; correct the mark"),
        ("'toyAdd(@t(input), other, alpha, out)'", "@t is written t; correct the mark"),
        ("'toyAdd(first(), other, alpha, out)'", "first takes (tensor?, tensor?), and 0 arguments"),
        ("5", "a mapping is expected here, not '5'"),
        ("true", "a mapping is expected here, not 'true'"),
        ("[null]", "has no case; remove the entry, or add a call"),
        ("[[toyAdd]]", "a mapping is expected here, not a list"),
    ],
    ids=lambda value: value[:40],
)  # fmt: skip
def test_case_that_means_something_else_is_refused(
    tmp_path: Path, entry: str, message: str
) -> None:
    text = f"diopiAdd: {entry.replace('CALL', CALL)}\n"
    found = refused(project(tmp_path / "toy", arithmetic=text))
    assert message in found and "arithmetic.yaml:1: " in found
    assert len(found.split("\n")[0]) < 1200


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("dtype(input) == dtype(out)",
         "the comparison is always true, because the contract gives input and out the same dtype; "
         "remove it"),
        ("size(input, 0) > 1 and input.dtype == dtype(out)", "the comparison is always true"),
        ("not dtype(out) != dtype(input)", "the comparison is always false"),
        ("dtype(input) == float32", ""),
    ],
)  # fmt: skip
def test_comparison_of_dtypes_that_the_contract_makes_equal_is_refused(
    tmp_path: Path, condition: str, message: str
) -> None:
    entry = {"when": condition, "call": "toyRelu(input, out)"}
    folder = project(tmp_path / "toy", sign=json.dumps({"diopiNeg": entry}))
    if message:
        assert message in refused(folder)
    else:
        assert run(folder)[0] == 0


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("int8_t", "128", "128 does not fit the type int8_t; pass -128 to 127"),
        ("uint8_t", "-1", "-1 does not fit the type uint8_t; pass 0 to 255"),
        ("uint64_t", "-1", "-1 does not fit the type uint64_t"),
        ("int", "2147483648", "does not fit the type int; pass -2147483648 to 2147483647"),
        ("float", "1e39", "1e+39 does not fit the type float; pass a smaller number"),
        ("int8_t", "127", ""),
        ("int64_t", "9223372036854775807", ""),
        ("double", "1e300", ""),
    ],
)
def test_constant_fits_its_type(tmp_path: Path, type_: str, value: str, message: str) -> None:
    folder = project(tmp_path / "toy", sign=f'diopiNeg: "toyNeg(input, {value}, out)"\n')
    table = json.loads((folder / "signatures.json").read_text())
    arguments = [dict(x) for x in table["toyRelu"]["arguments"]]
    arguments.insert(1, {"name": "number", "type": type_})
    table["toyNeg"] = {"arguments": arguments}
    (folder / "signatures.json").write_text(json.dumps(table))
    if message:
        assert message in refused(folder)
    else:
        assert run(folder)[0] == 0


def test_text_of_several_lines_becomes_one_in_the_page(tmp_path: Path) -> None:
    text = "diopiAdd: |\n  toyAdd(input,\n         other, alpha, out)\n"
    folder = project(tmp_path / "toy", arithmetic=text)
    assert run(folder)[0] == 0
    page = (folder / "operators.md").read_text()
    assert "| diopiAdd | `toyAdd(input, other, alpha, out)` |" in page


@pytest.mark.parametrize("key", ["contiguous", "upcast", "needs", "calls"])
def test_single_value_stands_for_a_list(tmp_path: Path, key: str) -> None:
    pages = []
    for name, (before, after) in {"value": ("", ""), "list": ("[", "]")}.items():
        value = {"needs": "toyRelu", "calls": "'toyAdd(input, other, alpha, out)'"}.get(
            key, "input"
        )
        call = "" if key == "calls" else f", {CALL}"
        text = f"diopiAdd: {{{key}: {before}{value}{after}{call}}}\n"
        folder = project(tmp_path / name / "toy", arithmetic=text)
        assert run(folder)[0] == 0
        pages.append((folder / "generated" / "arithmetic.gen.cpp").read_bytes())
    assert pages[0] == pages[1]
