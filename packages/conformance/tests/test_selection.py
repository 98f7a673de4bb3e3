"""Options select the right cases, and an empty selection is explained."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from diopi_proto.dtypes import DTYPES
from dl_conformance import selection as selecting
from dl_conformance.case import Case
from dl_conformance.catalog import all_cases, cases_of
from dl_conformance.command import main
from dl_conformance.empty import chosen_names
from dl_conformance.selection import Selection, SelectionError

ABS = "diopiAbs[float32-transposed-3x41]"
MUL = "diopiMul[float32-mixed-4x7 int64-4x7 float32]"
NAMES = (ABS, "diopiAbs[int8-5]", "diopiCos[float16-5]", "diopiCos[float32-5]", MUL)

MEANT: dict[str, Callable[[str], bool]] = {
    "": lambda x: True,
    "abs": lambda x: "Abs" in x,
    "ABS": lambda x: "Abs" in x,
    "abs or cos": lambda x: "Abs" in x or "Cos" in x,
    "abs and float32": lambda x: "Abs" in x and "float32" in x,
    "abs float32": lambda x: "Abs" in x and "float32" in x,
    "not abs": lambda x: "Abs" not in x,
    "not not abs": lambda x: "Abs" in x,
    "abs not float32": lambda x: "Abs" in x and "float32" not in x,
    "abs and not (float32 or float16)": lambda x: (
        "Abs" in x and not ("float32" in x or "float16" in x)
    ),
    "int8 or cos and float16": lambda x: "int8" in x or ("Cos" in x and "float16" in x),
    "(int8 or cos) and float16": lambda x: ("int8" in x or "Cos" in x) and "float16" in x,
    "not(int8)or(cos)": lambda x: "int8" not in x or "Cos" in x,
    "[float32-5]": lambda x: "[float32-5]" in x,
    "'4x7 int64'": lambda x: "4x7 int64" in x,
    '"4x7 int64" or int8': lambda x: "4x7 int64" in x or "int8" in x,
    "'or'": lambda x: False,
}


@pytest.mark.parametrize("text", MEANT)
def test_expression_chooses_as_written(text: str) -> None:
    selection = Selection(operators=["Abs", "Cos", "Mul"], expression=text)
    chosen = {case.name for case in selection.cases()}
    assert chosen.issuperset(x for x in NAMES if MEANT[text](x))
    assert chosen.isdisjoint(x for x in NAMES if not MEANT[text](x))


def test_names_list_the_cases_of_their_operators_only(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = set()

    def recorded(operator: str) -> tuple[Case, ...]:
        listed.add(operator)
        return cases_of(operator)

    monkeypatch.setattr(selecting, "cases_of", recorded)
    again = frozenset([ABS, "diopiCos[float16-5]"])
    assert {*chosen_names(Selection(names=frozenset([ABS, MUL])))} == {ABS, MUL}
    assert {*chosen_names(Selection(failed=again))} == again
    assert chosen_names(Selection(names=frozenset([ABS, MUL]), failed=again)) == [ABS]
    assert listed == {"diopiAbs", "diopiMul", "diopiCos"}


MALFORMED = {
    "abs and": "column 8: expected a word, 'not' or '(', got the end",
    "or abs": "column 1: expected a word, 'not' or '(', got 'or'",
    "abs or and cos": "column 8: expected a word, 'not' or '(', got 'and'",
    "not": "column 4: expected a word",
    "()": "column 2: expected a word, 'not' or '(', got ')'",
    "(abs or cos": "column 1: this '(' is not closed",
    "abs or (cos and (bool)": "column 8: this '(' is not closed",
    "abs)": "column 4: this ')' has no matching '('",
    "abs or 'cos": "column 8: this quote is not closed",
    "(" * 10_000: "parentheses are nested more than 50 deep",
}


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_expression_is_named(text: str) -> None:
    with pytest.raises(SelectionError) as told:
        list(Selection(expression=text).cases())
    assert str(told.value).startswith(f"-k {text!r}: ")
    assert MALFORMED[text] in str(told.value)


EMPTY: dict[str, tuple[Selection, str]] = {
    "a mistyped word": (
        Selection(expression="softmx or (transposd and float32)"),
        "-k 'softmx or (transposd and float32)' chooses no case: 'softmx' is in no name; did you "
        "mean: softmax, ",
    ),
    "one of two options": (
        Selection(operators=["Abs"], expression="transposd"),
        "--fname Abs and -k transposd choose no case; -k transposd alone chooses none: "
        "'transposd' is in no name; did you mean: transposed",
    ),
    "options that exclude each other": (
        Selection(operators=["Abs", "Cos"], layout="channels-last", expression="int8"),
        "--fname Abs --fname Cos, --nhwc and -k int8 choose no case together; each of them alone "
        "chooses some",
    ),
    "a dtype without cases": (
        Selection(operators=["Abs"], dtypes=["complex32"]),
        "--fname Abs and --only-dtype complex32 choose no case; --only-dtype complex32 alone "
        "chooses none",
    ),
    "no dtype that is left": (
        Selection(operators=["Abs"], dtypes=["int8"], skipped_dtypes=["int8"]),
        "--fname Abs, --only-dtype int8 and --skip-dtype int8 choose no case together",
    ),
    "checks, which have no dtype": (
        Selection(operators=["runtime"], dtypes=["float32"]),
        "--fname runtime and --only-dtype float32 choose no case together",
    ),
    "names without the rest": (
        Selection(operators=["Cos"], names=frozenset([ABS])),
        f"--fname Cos and --case '{ABS}' choose no case together",
    ),
    "a small sample": (
        Selection(operators=["Abs"], parts=10**12, seed=7),
        "--fname Abs and --sample 1000000000000/7 choose no case",
    ),
}


@pytest.mark.parametrize("case", EMPTY)
def test_empty_selection_names_the_responsible_option(case: str) -> None:
    selection, said = EMPTY[case]
    with pytest.raises(SelectionError) as told:
        chosen_names(selection)
    assert str(told.value).startswith(said)


UNKNOWN: dict[str, tuple[Selection, str]] = {
    "an operator": (
        Selection(operators=["Sofmax"]),
        "--fname Sofmax: the contract has no such operator; did you mean: diopiSoftmax",
    ),
    "an operator in small letters": (
        Selection(operators=["softmax"]),
        "--fname softmax: the contract has no such operator; did you mean: diopiSoftmax",
    ),
    "a misspelled case": (
        Selection(names=frozenset([ABS, "diopiAbs[float32-trnsposed-3x41]"])),
        "--case 'diopiAbs[float32-trnsposed-3x41]': unknown case; did you mean: " + ABS,
    ),
    "a case of no operator": (
        Selection(names=frozenset(["diopiAbz[float32-5]"])),
        "--case 'diopiAbz[float32-5]': unknown case; did you mean: diopiAbs",
    ),
    "an unknown dtype": (
        Selection(dtypes=["float32", "fp16"]),
        "--only-dtype fp16: unknown dtype; the contract has int8, uint8, ",
    ),
    "an unknown dtype to leave out": (
        Selection(skipped_dtypes=["fp16"]),
        "--skip-dtype fp16: unknown dtype; the contract has int8, uint8, ",
    ),
    "a check": (
        Selection(names=frozenset(["runtime[blocks do overlap]"])),
        "--case 'runtime[blocks do overlap]': unknown case; did you mean: "
        "runtime[blocks do not overlap]",
    ),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_name_is_reported_with_close_matches(case: str) -> None:
    selection, said = UNKNOWN[case]
    with pytest.raises(SelectionError) as told:
        chosen_names(selection)
    assert str(told.value).startswith(said)


def test_all_dtypes_of_cases_are_known() -> None:
    assert {case.dtype for case in all_cases()} <= DTYPES.keys()


def test_the_command_reports_it_and_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--fname", "Abs", "-k", "transposd"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("conformance: --fname Abs and -k transposd choose no case; ")
