from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from dl_optools import features
from dl_optools.patching import Applied, apply_feature
from watching import Seen

TOOLS: list[SeenByName] = []


class SeenByName(Seen):
    """Tool of the feature ``seen`` in these tests."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.open = 0
        TOOLS.append(self)

    def opened(self) -> None:
        self.open += 1

    def closed(self) -> None:
        self.open -= 1


@pytest.fixture(autouse=True)
def feature(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    TOOLS.clear()
    monkeypatch.setitem(features.TOOLS, "seen", f"{__name__}:SeenByName")
    monkeypatch.setitem(features.TOOLS, "other", f"{__name__}:SeenByName")
    yield
    assert all(tool.open == 0 for tool in TOOLS)


def names(applied: Applied) -> list[str]:
    tool = applied.tool
    assert isinstance(tool, Seen)
    return tool.names


def test_a_function_is_seen_until_undone() -> None:
    original = torch.add
    x = torch.ones(2)
    applied = apply_feature("torch.add", "seen")
    assert torch.add is not original and torch.add.__name__ == "add"
    torch.add(x, x)
    torch.mul(x, x)
    applied.undo()
    applied.undo()
    assert torch.add is original
    torch.add(x, x)
    assert names(applied) == ["torch.add"]


def test_methods_that_tensors_inherit_are_inherited_again() -> None:
    assert "add" not in vars(torch.Tensor)
    x = torch.ones(2)
    with apply_feature(["torch.Tensor.add", "torch.Tensor.__add__"], "seen") as applied:
        x.add(x)
        assert (x + x).sum() == 4
        assert torch.nn.Parameter(x).add(1).sum() == 4
    assert names(applied) == ["torch.Tensor.add", "torch.Tensor.__add__", "torch.Tensor.add"]
    assert "add" not in vars(torch.Tensor) and "__add__" not in vars(torch.Tensor)
    assert (x + x).sum() == 4


def test_a_modules_name_stands_for_its_operators() -> None:
    before = dict(vars(torch.nn.functional))
    with apply_feature("torch.nn.functional", "seen") as applied:
        torch.nn.Linear(3, 2)(torch.ones(1, 3))
        torch.nn.functional.relu(torch.ones(1))
        torch.nn.functional.max_pool2d(torch.ones(1, 4, 4), 2)
    assert names(applied) == [
        "torch.nn.functional.linear",
        "torch.nn.functional.relu",
        "torch.nn.functional.max_pool2d",
    ]
    assert "torch.nn.functional.has_torch_function" not in applied.functions
    assert dict(vars(torch.nn.functional)) == before


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = types.ModuleType("third_party")
    code = """
from functools import partial
import torch

def fused(x, *, scale):
    return {"result": x * scale}

def _private(x):
    return x

class Kernel:
    @staticmethod
    def run(x):
        return x + 1

    @classmethod
    def build(cls, x):
        return cls.__name__, x
"""
    exec(code, vars(module))
    monkeypatch.setitem(sys.modules, "third_party", module)
    return module


def test_functions_of_other_packages(third_party: Any) -> None:
    with apply_feature("third_party", "seen") as applied:
        assert applied.functions == ["third_party.fused"]
        third_party.fused(x=torch.ones(2), scale=3)
        third_party.fused(x=torch.ones(2, device="meta"), scale=3)
    assert names(applied) == ["third_party.fused"]


def test_static_and_class_methods_keep_their_kind(third_party: Any) -> None:
    x = torch.ones(2)
    run = vars(third_party.Kernel)["run"]
    with apply_feature(["third_party.Kernel.run", "third_party.Kernel.build"], "seen") as applied:
        assert third_party.Kernel().run(x).sum() == 4
        assert third_party.Kernel().build(x)[0] == "Kernel"
    assert names(applied) == ["third_party.Kernel.run", "third_party.Kernel.build"]
    assert vars(third_party.Kernel)["run"] is run


@pytest.mark.parametrize("first", [0, 1])
def test_several_features_on_one_function_go_in_any_order(first: int) -> None:
    original = torch.add
    both = [apply_feature("torch.add", "seen"), apply_feature("torch.add", "other")]
    x = torch.ones(1)
    torch.add(x, x)
    both[first].undo()
    torch.add(x, x)
    both[1 - first].undo()
    assert torch.add is original
    assert [len(names(applied)) for applied in both] == ([1, 2] if first == 0 else [2, 1])


def test_a_later_replacement_of_the_program_stays() -> None:
    original = torch.add
    x = torch.ones(1)
    first = apply_feature("torch.add", "seen")
    ours: Callable[..., Any] = torch.add

    @functools.wraps(ours)
    def theirs(*args: Any, **kwargs: Any) -> Any:
        return ours(*args, **kwargs) * 10

    torch.add = theirs  # type: ignore[assignment]
    try:
        second = apply_feature("torch.add", "other")
        assert torch.add(x, x) == 20
        first.undo()
        assert torch.add(x, x) == 20
        second.undo()
        assert torch.add is theirs and torch.add(x, x) == 20
        assert (len(names(first)), len(names(second))) == (1, 2)
    finally:
        torch.add = original


def test_a_name_given_twice_counts_once() -> None:
    with apply_feature(["torch.add", "torch.add"], "seen") as applied:
        torch.add(torch.ones(1), 1)
    assert names(applied) == ["torch.add"]


def test_conditions_may_call_the_function_itself() -> None:
    def condition(x: torch.Tensor, other: Any) -> bool:
        return bool(torch.add(x, other).sum() > 2)

    with apply_feature("torch.add", "seen", condition_func=condition) as applied:
        torch.add(torch.ones(1), 1)
        torch.add(torch.ones(1), 2)
    assert names(applied) == ["torch.add"]


def test_other_threads_are_observed_and_modes_of_tools_work_too() -> None:
    with apply_feature("torch.add", "seen") as applied, Seen(ops=r"torch\.add") as tool:
        thread = threading.Thread(target=lambda: torch.add(torch.ones(1), 1))
        thread.start()
        thread.join()
        torch.add(torch.ones(1), 1)
    assert names(applied) == ["torch.add"] * 2 and tool.names == ["torch.add"]


def test_lists_of_the_environment_do_not_count_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_SEEN_LIST", "torch.mul")
    with apply_feature("torch.add", "seen") as applied:
        torch.add(torch.ones(1), 1)
    assert names(applied) == ["torch.add"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch.nothing", "cannot be called"),
        ("torch.Tensor.nothing.add", "cannot be called"),
        ("no_such_module.add", "module 'no_such_module' does not exist"),
        ("builtins.int.bit_length", "cannot be replaced"),
        ("dl_optools._version", "has no functions"),
    ],
)
def test_names_that_lead_nowhere_are_refused_and_nothing_stays(name: str, message: str) -> None:
    original = torch.add
    with pytest.raises(ValueError, match=message):
        apply_feature(["torch.add", name], "seen")
    assert torch.add is original


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ops": 3}, "ops: 3 is not the name of a function"),
        ({"ops": None}, "ops: None is not the name of a function"),
        ({"ops": ["torch.add", 3]}, "ops: 3 is not the name of a function"),
        ({"ops": "torch.add", "condition_func": 5}, "condition_func: 5 cannot be called"),
    ],
)
def test_arguments_of_other_types_are_refused(arguments: Any, message: str) -> None:
    original = torch.add
    with pytest.raises(ValueError, match=message):
        apply_feature(feature="seen", **arguments)
    assert torch.add is original


def test_unknown_features_are_refused() -> None:
    with pytest.raises(ValueError, match="'magic' is not a feature of dl-optools, which has"):
        apply_feature("torch.add", "magic")
