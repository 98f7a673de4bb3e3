"""Patterns in programs for all sizes: their conditions must hold at all sizes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import dl_dicp.sizes.all_sizes
from agreement import assert_agree
from dl_dicp import statistics
from dl_dicp.patterns import Calls, Declined, Match, registry
from dl_dicp.patterns.linear_bias import LinearBias
from dl_dicp.patterns.multiply_add import MultiplyAdd
from dl_dicp.patterns.sequence import VariesError, alike, number
from dl_dicp.program.document import Scope
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Block, Ref
from dl_dicp.reports.explain import explain
from dl_dicp.sizes.fit import Fit
from dl_graph.expression import Expression, minimum

WHOLE = os.environ.get("DL_TEST_SAMPLE") == "1"
N, M = Expression("n"), Expression("m")
SEEN = ({"n": 40, "m": 6}, {"n": 43, "m": 7})


def rand(*shape: int) -> Tensor:
    return torch.rand(shape).to("dl")


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1) @ v


def norm(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


CASES: dict[str, tuple[Callable[..., Tensor], Callable[[int], tuple[Tensor, ...]]]] = {
    "attention": (attend, lambda n: tuple(rand(2, 3, 30 + n, 16) for _ in range(3))),
    "rms-norm": (norm, lambda n: (rand(n, 6, 8), rand(8))),
    "linear-bias": (lambda x, w, b: x @ w + b, lambda n: (rand(n, 8), rand(8, 5), rand(5))),
    "multiply-add": (lambda a, b, c: a * b + c, lambda n: tuple(rand(n, 3) for _ in range(3))),
}


# Attention fires in the test below.
@pytest.mark.parametrize(
    "name", CASES if WHOLE else [name for name in CASES if name != "attention"]
)
def test_a_pattern_serves_all_sizes(name: str) -> None:
    function, given = CASES[name]
    run = torch.compile(function, backend="dl", dynamic=True, options={"patterns": [name]})
    for size in (4, 4, 9, 21, 50):
        x = given(size)
        assert_agree(run(*x), function(*x))
    assert statistics.patterns == {name: 1}
    assert statistics.compiled == 1
    assert not statistics.eager
    assert f"pattern {name}: 1 rewritten" in explain()


def test_fewer_queries_than_a_pattern_was_recorded_with_have_a_program_without_it() -> None:
    run = torch.compile(attend, backend="dl", dynamic=True, options={"patterns": ["attention"]})
    calls = []
    for queries in (40, 40, 50, 8, 8, 20, 31, 32, 90):
        x = tuple(rand(2, 3, queries, 16) for _ in range(3))
        before = statistics.calls
        assert_agree(run(*x), attend(*x))
        calls.append(statistics.calls - before)
    assert statistics.compiled == 2
    assert statistics.patterns == {"attention": 1}
    with_pattern, without = calls[1], calls[4]
    assert calls[6:] == [without, with_pattern, with_pattern]
    assert with_pattern < without
    assert ", where 32 <= " in explain()


def product(shape: tuple[Any, ...], added: tuple[Any, ...]) -> list[Call]:
    """Return the calls of ``x @ w + b`` with a product of this shape."""
    rows, width = shape
    a, w, p, b, out = (Block(0, 0) for _ in range(5))

    def tensor(block: Block, *sizes: Any) -> Ref:
        strides = [1]
        for size in reversed(sizes[1:]):
            strides.insert(0, strides[0] * size)
        return Ref(block, "float32", sizes, tuple(strides), 0)

    made = tensor(p, rows, width)
    one = {"dtype": "int64", "value": 1}
    return [
        Call("diopiMm", {"out": made, "input": tensor(a, rows, 8), "mat2": tensor(w, 8, width)}),
        Call(
            "diopiAdd",
            {
                "out": tensor(out, rows, width),
                "input": made,
                "other": tensor(b, *added),
                "alpha": one,
            },
        ),
    ]


@pytest.mark.parametrize(
    ("added", "fires"),
    [
        ((M,), True),
        ((M * 2 // 2,), True),
        ((N, M), True),
        ((minimum(M, 9),), False),  # true at the recorded sizes
        ((N - 34,), False),  # true at the first sizes
        ((N, M * M // M + 0), True),
        ((M + N, M), False),
    ],
)
def test_a_condition_has_to_hold_for_all_sizes(added: tuple[Any, ...], fires: bool) -> None:
    scope = Scope({"n": (2, 100), "m": (2, 100)})
    calls = Calls(product((N, M), added), set(), scope, SEEN)
    found = LinearBias().match(calls, 1)
    assert isinstance(found, Match) if fires else found == Declined("broadcast")


def test_a_least_size_is_proven_or_assumed() -> None:
    calls = Calls([], set(), Scope({"n": (2, 100), "m": (5, 100)}), SEEN)
    assert calls.at_least(32, 32) and not calls.at_least(31, 32)
    assert calls.at_least(M, 5) and calls.at_least(M + M, 10)
    assert not calls.assumed
    assert not calls.at_least(M, 7)  # it was 6 once
    assert calls.at_least(N, 40)
    assert calls.assumed == [["<=", 40, "n"]]
    assert not Calls([], set(), Scope({"n": (2, 100)})).at_least(N, 3)


def test_tensors_are_alike_only_if_they_always_are() -> None:
    block = Block(0, 0)

    def tensor(shape: tuple[Any, ...], strides: tuple[Any, ...], offset: Any = 0) -> Ref:
        return Ref(block, "float32", shape, strides, offset)

    flat = tensor((N * M,), (1,))
    assert alike(tensor((N, M), (M, 1)), flat)
    assert alike(tensor((M, N), (N, 1)), flat)
    assert not alike(tensor((N, minimum(M, 9)), (M, 1)), flat)
    assert not alike(tensor((N, M), (minimum(M, 9), 1)), flat)
    assert not alike(tensor((N, M), (M, 1), N * 4 - M * 4), flat)
    assert not alike(tensor((N, 6), (6, 1)), flat)


def test_a_number_that_follows_from_sizes_is_no_number() -> None:
    with pytest.raises(VariesError):
        number({"dtype": "float64", "value": ["/", 1, "n"]})

    def function(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return torch.add(c, a * b, alpha=a.shape[0])

    run = torch.compile(function, backend="dl", dynamic=True)
    for rows in (4, 4, 7, 9):
        x = [rand(rows, 3) for _ in range(3)]
        assert_agree(run(*x), function(*x))
    assert not statistics.patterns


def test_a_condition_that_holds_at_the_recorded_sizes_only_is_noticed_end_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The product and the sum have equal numbers of rows only up to 30."""
    right = dl_dicp.sizes.all_sizes.unify

    def cut_off(one: Any, other: Any, fit: Fit) -> Any:
        made = right(one, other, fit)
        for step in made.steps:
            for place, call in enumerate(step.calls):
                if call.operator == "diopiMul":
                    out = call.arguments["out"]
                    out = replace(out, shape=(minimum(out.shape[0], 30), *out.shape[1:]))
                    step.calls[place] = Call(call.operator, {**call.arguments, "out": out})
        return made

    monkeypatch.setattr(dl_dicp.sizes.all_sizes, "unify", cut_off)
    function, given = CASES["multiply-add"]
    run = torch.compile(function, backend="dl", dynamic=True)
    for rows in (8, 8, 14, 20):
        x = given(rows)
        assert_agree(run(*x), function(*x))
    assert statistics.compiled == 1 and statistics.graphs == 2
    assert not statistics.patterns
    for rows in (60, 8):
        x = given(rows)
        assert_agree(run(*x), function(*x))
    assert "for these sizes only: the size " in explain()
    assert statistics.patterns == {"multiply-add": 2}  # of one layout each


def test_a_wrong_pattern_changes_no_result_at_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(MultiplyAdd):
        name = "wrong"

        def match(self, calls: Calls, last: int) -> Match | Declined | None:
            found = super().match(calls, last)
            if not isinstance(found, Match):
                return found
            value = {"dtype": "int64", "value": 7}
            return Match(
                found.members, Call(found.call.operator, {**found.call.arguments, "value": value})
            )

    monkeypatch.setitem(registry.all_patterns(), "wrong", Wrong())
    function = CASES["multiply-add"][0]
    run = torch.compile(function, backend="dl", dynamic=True, options={"patterns": ["wrong"]})
    for rows in (4, 4, 7):
        x = [rand(rows, 3) for _ in range(3)]
        assert_agree(run(*x), function(*x))
    assert statistics.compiled == 1 and not statistics.patterns
    assert "pattern wrong left 1 alone, because with it, value 0 differs" in explain()
