from __future__ import annotations

import pytest
import torch

from dl_optools.names import api_name, overload_name, short_name
from dl_optools.options import OptionError, flag, operator_lists, read
from dl_optools.selection import PatternError, Selection, split_list
from watching import Seen


@pytest.mark.parametrize(
    ("include", "exclude", "name", "expected"),
    [
        (".*", "", "torch.add", True),
        ("torch.add", "", "torch.add", True),
        ("torch.add", "", "torch.addmm", False),
        ("add", "", "torch.add", False),
        (r"torch\.(add|mul)", "", "torch.mul", True),
        ("torch.rand,torch.randn", "", "torch.randn", True),
        ("torch.conv.{1,2}d", "", "torch.conv2d", True),
        (".*", "torch.rand.*", "torch.randn", False),
        ("torch.randn", "torch.rand.*", "torch.randn", False),
        (" torch.add , torch.mul ", "", "torch.mul", True),
    ],
)
def test_names_match_as_a_whole_and_leaving_out_wins(
    include: str, exclude: str, name: str, expected: bool
) -> None:
    assert (name in Selection.of(include, exclude)) is expected


def test_commas_in_brackets_belong_to_the_expression() -> None:
    assert split_list("a{1,2},(b|c,d),[,],e") == ("a{1,2}", "(b|c,d)", "[,]", "e")


def test_an_expression_that_is_none_is_refused() -> None:
    with pytest.raises(PatternError, match=r"\[OP_X_LIST\] '\(' is not a regular expression"):
        Selection.of("(", source="OP_X_LIST")


def test_lists_come_from_the_environment_and_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_SEEN_LIST", r"torch\.(add|mul)")
    monkeypatch.setenv("OP_SEEN_DISABLE_LIST", "torch.mul")
    x = torch.ones(1)
    with Seen() as by_environment, Seen(ops="torch.div", exclude="") as by_argument:
        for function in (torch.add, torch.mul, torch.div):
            function(x, x)
    assert by_environment.names == ["torch.add"] and by_argument.names == ["torch.div"]


def test_empty_variables_count_as_not_set() -> None:
    assert operator_lists({"OP_X_LIST": " "}, "X") == (".*", "")
    assert read({"N": ""}, "N", int, 3, "numbers") == 3


def test_values_that_do_not_fit_name_the_variable() -> None:
    with pytest.raises(OptionError, match=r"N='x' is invalid\. Allowed: numbers\."):
        read({"N": "x"}, "N", int, 3, "numbers")
    assert [flag(text) for text in ("1", "On", "no", "FALSE")] == [True, True, False, False]


def test_reading_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OP_SEEN_LIST", raising=False)
    with Seen():
        pass
    import os

    assert "OP_SEEN_LIST" not in os.environ


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.add, "torch.add"),
        (torch._foreach_mul_, "torch._foreach_mul_"),
        (torch.Tensor.add, "torch.Tensor.add"),
        (torch.nn.functional.linear, "torch.nn.functional.linear"),
        (torch.Tensor.__setitem__, "torch.Tensor.__setitem__"),
        (torch._foreach_add_, "torch._foreach_add_"),
        (split_list, "dl_optools.selection.split_list"),
    ],
)
def test_names_are_those_that_people_write(function: object, name: str) -> None:
    assert api_name(function) == name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("torch.nn.functional.linear", "LINEAR"),
        ("torch.Tensor.add_", "ADD"),
        ("torch.Tensor.__add__", "__ADD__"),
        (overload_name(torch.ops.aten.add.Tensor), "ADD"),
        (overload_name(torch.ops.aten.relu_.default), "RELU"),
    ],
)
def test_variables_of_single_operators_are_named_after_them(name: str, short: str) -> None:
    assert short_name(name) == short


def test_a_name_that_no_operator_has_is_reported() -> None:
    said = "Seen: the program called no operator that 'exp' matches; did you mean torch.exp"
    with pytest.warns(UserWarning, match=said) as warned, Seen(ops="exp,torch.add"):
        torch.add(torch.exp(torch.ones(2)), 1)
    assert len(warned) == 1


def test_nothing_is_reported_if_nothing_was_called() -> None:
    with Seen(ops="torch.exp"):
        pass
