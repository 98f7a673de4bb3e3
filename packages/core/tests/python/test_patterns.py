"""Patterns match as Python's ``re`` does, and cannot hang."""

from __future__ import annotations

import re

import pytest

from dl_core import patterns
from dl_core.patterns import PatternError, check_patterns, match_names

NAMES = (
    "add.Tensor",
    "add_.Scalar",
    "mul",
    "convolution_backward",
    "a",
    "aa",
    "ab",
    "b.a",
    "",
    "_",
)


@pytest.mark.parametrize(
    "text",
    [
        *("add.Tensor", r"add\.Tensor", "add.*", ".*_backward", "add_?\\..*", "(add|mul).*"),
        *("a{2}", "[^_]*", r"\w+", "a*?", "(?:a|b)+", "(?P<x>a)b", "a{1,2}", "[]a]", "a|", "()"),
        *("$a", r"\A\w\Z", r"(a)\1", "(?=a)..", "(?i)MUL", "a*+", "((a|b)*.)*", "(^a|b)*"),
    ],
)
def test_they_match_as_re_does(text: str) -> None:
    try:
        expected = re.compile(text)
    except re.error:  # possessive repeats are new in Python 3.11
        pytest.skip("this Python does not have the syntax")
    assert match_names([text], NAMES) == {name for name in NAMES if expected.fullmatch(name)}


def test_a_name_matches_if_one_pattern_does() -> None:
    assert match_names(["add.*", "(mul|div)"], ("add.Tensor", "mul", "mul_")) == {
        *("add.Tensor", "mul")
    }
    assert match_names([], [""]) == set()


def test_only_expressions_that_may_take_long_need_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns.subprocess, "run", None)
    names = [f"operator_{index:04}.overload" for index in range(3000)]
    simple = [name.replace(".", r"\.") for name in names[:300]]
    assert match_names([*simple, "operator_.*[.].*"], names) == set(names)
    with pytest.raises(TypeError):
        match_names(["(a|b)*"], names)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(", "unterminated subpattern at position 0"),
        (")", "unbalanced parenthesis at position 0"),
        ("(" * 400, "is not a regular expression"),
        ("a" * 501, "more than 500 characters"),
        ("*", "nothing to repeat at position 0"),
        ("a{" + "9" * 400 + "}", "too large"),
        ("a{2,1}", "min repeat greater than max"),
        ("[b-a]", "bad character range"),
        ("a\\", "bad escape"),
    ],
)
def test_an_invalid_expression_is_named_with_the_reason(text: str, reason: str) -> None:
    for call in (check_patterns, lambda texts: match_names(texts, ["a"])):
        with pytest.raises(PatternError, match=re.escape(reason)) as caught:
            call(["mul", text])
        assert repr(text[:60])[1:-1] in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["(.*)*x", "(a|aa)+x", "a?a?a?" * 20 + "a" * 60 + "x"])
def test_exponential_backtracking_ends_at_the_timeout(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.5)
    with pytest.raises(PatternError, match=r"longer than 0\.5 s; write names"):
        match_names([text], ["a" * 200])


def test_a_child_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns.sys, "executable", "/nonexistent/python")
    with pytest.raises(PatternError, match="No such file"):
        match_names(["(a|b)*"], ["a"])
