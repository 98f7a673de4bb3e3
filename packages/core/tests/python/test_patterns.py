"""Patterns match what Python's do, and cannot hang."""

from __future__ import annotations

import random
import re
import warnings

import pytest

from dl_core.patterns import PatternError, Patterns

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
        *(
            "add.Tensor",
            r"add\.Tensor",
            "add.*",
            ".*_backward",
            "add_?\\..*",
            "(add|mul).*",
            "a{2}",
        ),
        *(
            "[^_]*",
            "[a-m]+",
            r"\w+",
            r"[\w.]+",
            "^mul$",
            "a*?",
            "(?:a|b)+",
            "(?P<x>a)b",
            "a{,}",
            "{}",
        ),
        *(
            "a{1,2}",
            "a{,1}",
            "a{2,}",
            "a{",
            "a{x}",
            "[]a]",
            "a|",
            "|",
            "()",
            "[a-]",
            r"\A\w\Z",
            "$a",
        ),
        *(r"[\d\W]", r"\D+", "((a|b)*.)*", "(^a|b)*", "a$|^b"),
    ],
)
def test_they_match_as_pythons_do(text: str) -> None:
    patterns, theirs = Patterns([text]), re.compile(text)
    for name in NAMES:
        assert patterns.fullmatch(name) == bool(theirs.fullmatch(name)), name


def test_random_ones_match_as_pythons_do() -> None:
    choose = random.Random(7)
    compared = 0
    for _ in range(4000):
        pieces = choose.choices(["a", "b", ".", "_", "(", ")", "|", "[ab]", "[^a]", *"*+?^$"], k=7)
        text = "".join([*pieces, choose.choice(["", "{2}", "{1,2}", "{,1}", "\\w"])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = re.compile(text)
            except re.error:
                theirs = None
        try:
            ours = Patterns([text])
        except PatternError as error:
            supported = "possessive" in str(error) or "nothing to repeat" in str(error)
            assert theirs is None or supported, text
            continue
        assert theirs is not None, text
        for _ in range(8):
            name = "".join(choose.choices("ab._", k=choose.randrange(6)))
            assert ours.fullmatch(name) == bool(theirs.fullmatch(name)), (text, name)
            compared += 1
    assert compared > 3000


def test_several_match_if_one_does() -> None:
    patterns = Patterns(["add.*", "mul"])
    assert [patterns.fullmatch(name) for name in ("add.Tensor", "mul", "mul_")] == [1, 1, 0]
    assert not Patterns([]).fullmatch("")


def test_as_many_names_as_there_are_operators_are_quick() -> None:
    names = [f"operator_{index:04}.overload" for index in range(3000)]
    patterns = Patterns([name.replace(".", r"\.") for name in names])
    assert all(map(patterns.fullmatch, names)) and not patterns.fullmatch("operator_3000.overload")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(", "the parenthesis at 0 is not closed"),
        (")", "closed at 0 that was not opened"),
        ("(" * 5000, "nested deeper than 50"),
        ("*", "nothing to repeat at 0"),
        ("a**", "two repeats"),
        ("a{4294967296}", "more than 1000 times"),
        ("a{" + "9" * 5000 + "}", "more than 1000 times"),
        ("(((a{1000}){1000}){1000}){1000}", "it is too long, repeats included"),
        ("(((){1000}){1000}){1000}", "it is too long, repeats included"),
        ("a{2,1}", "wrong order"),
        ("[a", "the bracket at 0 is not closed"),
        ("[b-a]", "no proper range"),
        ("(?=a)", "(?= is not supported"),
        ("(?i)a", "(?i is not supported"),
        (r"(a)\1", r"\1 is not supported"),
        (r"\b", r"\b is not supported"),
        ("a\\", "\\ is not supported"),
        ("a*+", "possessive"),
    ],
)
def test_what_is_none_is_told(text: str, said: str) -> None:
    with pytest.raises(PatternError, match=re.escape(said)) as caught:
        Patterns(["mul", text])
    assert repr(text[:60])[1:-1] in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["(.*)*x", "(a|aa)+x", "(.*.*.*.*)*x", "(a?){500}x"])
def test_what_hangs_pythons_does_not_hang_these(text: str) -> None:
    patterns = Patterns([text])
    assert not patterns.fullmatch("a" * 200)
    assert patterns.fullmatch("a" * 200 + "x")


def test_too_much_work_is_an_error() -> None:
    patterns = Patterns(["(a|b)*a(a|b){400}"])
    name = "".join(random.Random(1).choices("ab", k=30_000))
    with pytest.raises(PatternError, match="too much work"):
        patterns.fullmatch(name)
