"""Size expressions are proven, or checked in each run. An expression that was right in the recorded
and compared runs but is wrong at other sizes is noticed before it is used."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor

from agreement import assert_agree
from dl_dicp import statistics
from dl_dicp.compiled import all_graphs
from dl_dicp.errors import FixedSizesError
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Block, Ref
from dl_dicp.recording.shapes import Shapes
from dl_dicp.recording.symbols import Symbol
from dl_dicp.recording.trace import Lowered, Trace
from dl_dicp.sizes.claims import claims_of
from dl_dicp.sizes.fit import Fit
from dl_dicp.sizes.proof import same
from dl_graph.expression import Expression, maximum, minimum

A, B = Expression("a"), Expression("b")
RUNS = ({"a": 4, "b": 6}, {"a": 5, "b": 7})


def shapes() -> Shapes:
    return Shapes([Symbol("a", 0, 0, 2, 100), Symbol("b", 0, 1, 2, 100)], [], [], [A, B])


def split_in_two(x: Tensor) -> Tensor:
    """A slice whose size differs from the sizes of all arguments."""
    return x[: x.shape[0] // 2].exp() + 1


def cut_off(right: Any) -> Any:
    """Return a faulty ``Fit.size`` whose expressions are right up to 20."""

    def size(self: Fit, one: int, other: int) -> Any:
        found = right(self, one, other)
        halved = not isinstance(found, int) and "//" in found.json
        return minimum(found, 20) if halved else found

    return size


@pytest.mark.parametrize("check", [True, False])
def test_a_size_that_is_wrong_far_from_what_was_compared_is_noticed(
    check: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fit, "size", cut_off(Fit.size))
    run = torch.compile(split_in_two, backend="dl", dynamic=True, options={"check": check})
    for rows in (8, 14, 16, 30, 39):
        x = torch.randn(rows, 3).to("dl")
        assert_agree(run(x), split_in_two(x))
    assert statistics.recorded == 2
    assert statistics.compiled == 1
    for rows in (60, 60, 90, 30):
        x = torch.randn(rows, 3).to("dl")
        assert_agree(run(x), split_in_two(x))
    reasons = {variant.fixed for graph in all_graphs for variant in graph.variants}
    assert len(reasons) == 1
    wanted = r"the size .* was assumed to be min\(.* // 2, 20\), which is wrong at .*60.*"
    assert re.fullmatch(wanted, reasons.pop())


def test_only_what_is_proven_needs_no_guard() -> None:
    for one, other in (
        (A * B // B, A),
        ((A * B + B * B) // (A + B), B),
        ((A * 8 + 3) // 8, A),
        (A % 8 + A // 8 * 8, A),
        (maximum(A + 1, A), A + 1),
        ((A + 1) * (A - 1), A * A - 1),
        (minimum(A, B) * 4, 4 * minimum(B, A)),
    ):
        assert same(one, other)
    for one, other in ((A, B), (A // 2 * 2, A), (minimum(A, 30), A), (A * 2, A * 3), (A, 7)):
        assert not same(one, other)
    assert not same(3, 4)


CUT = minimum(B, 9)


@pytest.mark.parametrize(
    ("sizes", "strides", "wanted"),
    [
        ((A, B), (B, 1), []),
        ((A * 2 // 2, B), (A * B // A, 1), []),
        ((A, CUT), (B, 1), [["==", "b", CUT.json]]),
        ((A, B), (A + 2, 1), [["==", "b", ["+", "a", 2]]]),
        ((A, B), (5, 1), []),  # wrong at the recorded sizes: the device has its own strides
    ],
)
def test_what_is_not_proven_of_a_tensor_is_claimed(
    sizes: Any, strides: Any, wanted: list[Any]
) -> None:
    said = shapes()
    said.nodes["x"] = [(A, B, B, 1, 0)]
    made = Ref(Block(0, 0), "float32", sizes, strides, 0)
    trace = Trace(torch.device("dl", 0), [], nodes={"x": [made]})
    assert claims_of(trace, said, RUNS) == wanted


def test_sizes_of_a_call_that_agreed_have_to_agree() -> None:
    def call(*sizes: Any) -> Trace:
        out = Ref(Block(0, 0), "float32", sizes, (9, 1), 0)
        given = Ref(Block(0, 0), "float32", (A, B), (9, 1), 0)
        calls = [Call("diopiExp", {"out": out, "input": given})]
        return Trace(torch.device("dl", 0), [], steps=[Lowered("exp", calls)])

    assert claims_of(call(A, B), shapes(), RUNS) == []
    assert claims_of(call(A, CUT), shapes(), RUNS) == [["==", CUT.json, "b"]]


def test_a_claim_that_may_divide_by_nothing_is_refused() -> None:
    said = shapes()
    said.nodes["n"] = [(B // (A - 3),)]
    trace = Trace(torch.device("dl", 0), [], nodes={"n": [B]})
    with pytest.raises(FixedSizesError, match="may divide by zero"):
        claims_of(trace, said, RUNS[:1])
