"""One program for all sizes: a graph that was recorded twice serves any batch and length, and
reports when it cannot."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

import dl_dicp.compiled
import dl_dicp.sizes.all_sizes
from agreement import assert_agree
from dicp_models import Encoder, Residual, on_dl, tokens
from dl_core import _C
from dl_dicp import statistics
from dl_dicp.compiled import all_graphs
from dl_dicp.errors import FixedSizesError, OwnCaseError
from dl_dicp.program.compiled_program import Program
from dl_dicp.recording.calls import Call
from dl_dicp.recording.shapes import Shapes, value_of
from dl_dicp.recording.symbols import Symbol
from dl_dicp.reports.explain import explain
from dl_dicp.sizes.fit import AmbiguousError, Fit
from dl_dicp.variant import Variant
from dl_graph.expression import Expression

WIDTH = 8
WHOLE = os.environ.get("DL_TEST_SAMPLE") == "1"


def step(word: Tensor, keys: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Run a decoding step: the cache of keys grows by the tokens of this step."""
    keys = torch.cat([keys, word @ weight], 1)
    places = torch.arange(keys.shape[1], device=keys.device)
    scores = word @ keys.transpose(1, 2) + places / WIDTH
    return (scores.softmax(-1) @ keys)[:, -1], keys


def make_inputs(batch: int, words: int, before: int) -> tuple[Tensor, ...]:
    numbers = torch.Generator().manual_seed(batch + before)
    shapes = ((batch, words, WIDTH), (batch, before, WIDTH), (WIDTH, WIDTH))
    return tuple(torch.randn(shape, generator=numbers).to("dl") for shape in shapes)


def variants() -> list[Variant]:
    return [variant for graph in all_graphs for variant in graph.variants]


def check(run: Callable[..., Any], eager: Callable[..., Any], *inputs: Tensor) -> None:
    for one, other in zip(run(*inputs), eager(*inputs), strict=True):
        assert_agree(one, other)


def test_two_records_serve_all_lengths_and_batches_of_a_growing_cache() -> None:
    run = torch.compile(step, backend="dl", dynamic=True)
    batches, steps = ((3, 2, 5), 20) if WHOLE else ((3, 2), 4)
    for batch in batches:
        keys = make_inputs(batch, 2, 4)[1]
        for _ in range(steps):
            word, _, weight = make_inputs(batch, 2, keys.shape[1])
            check(run, step, word, keys, weight)
            keys = run(word, keys, weight)[1]
    assert statistics.recorded == 2
    assert statistics.compiled == 1
    assert not statistics.eager
    # Two calls in each step, except for the first recorded one and the one that is compared.
    assert statistics.graphs == 2 * len(batches) * steps - 2


def test_sizes_that_the_host_computes_and_returns() -> None:
    def function(x: Tensor) -> tuple[Tensor, int, Tensor]:
        return x.t() + 1, x.shape[0] * x.shape[1], x[1:, 1:]

    run = torch.compile(function, backend="dl", dynamic=True)
    for shape in ((4, 7), (5, 9), (11, 6), (6, 6)):
        x = torch.randn(shape).to("dl")
        one, two = run(x), function(x)
        assert one[1] == two[1]
        assert one[2].data_ptr() == two[2].data_ptr()
        assert one[2].stride() == two[2].stride()
        assert_agree(one[0], two[0])
    assert statistics.compiled == 1


def words(batch: int, length: int) -> tuple[Tensor, ...]:
    return (tokens(batch, length),)


def images(batch: int, side: int) -> tuple[Tensor, ...]:
    return (torch.randn(batch, 3, 2 * side, 2 * side),)


def placed(_: int, length: int) -> tuple[Tensor, ...]:
    return tokens(1, length), torch.arange(length)


INPUTS = {"llama": placed, "encoder": words, "decoder": words, "residual": images}


@pytest.mark.parametrize("name", INPUTS if WHOLE else ["llama"])
def test_a_model_serves_all_batches_and_lengths(name: str) -> None:
    model, _ = on_dl(name)
    eager = copy.deepcopy(model.eval())
    run = torch.compile(model, backend="dl", dynamic=True)
    with torch.no_grad():
        for batch, length in ((2, 8), (3, 5), (4, 15), (2, 11)):
            inputs = [x.to("dl") for x in INPUTS[name](batch, length)]
            assert_agree(run(*inputs), eager(*inputs))
    for one, other in zip(model.state_dict().values(), eager.state_dict().values(), strict=True):
        assert_agree(one, other)  # of the cache, too
    assert statistics.compiled == 1
    assert not statistics.eager


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = torch.nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(x).softmax(-1)


TRAINED: dict[str, tuple[Callable[[], torch.nn.Module], Callable[..., tuple[Tensor, ...]]]] = {
    "small": (Small, lambda batch, length: (torch.randn(batch, length, 4),)),
    "encoder": (Encoder, words),
    "residual": (Residual, images),
}


@pytest.mark.parametrize("name", TRAINED if WHOLE else ["small"])
def test_training_at_sizes_that_vary(name: str) -> None:
    make, inputs = TRAINED[name]
    model = make().to("dl")
    eager = copy.deepcopy(model)
    loss = torch.compile(lambda *x: model(*x).square().mean(), backend="dl", dynamic=True)
    for batch, length in ((2, 8), (3, 5), (4, 15), (2, 11)):
        given = [x.to("dl") for x in inputs(batch, length)]
        loss(*given).backward()
        eager(*given).square().mean().backward()
        for one, other in zip(model.parameters(), eager.parameters(), strict=True):
            assert_agree(one.grad, other.grad)
    assert statistics.compiled == 2  # forward and backward
    assert statistics.recorded == 4
    assert not statistics.eager


def test_dropout_draws_what_eager_draws_at_all_sizes() -> None:
    def function(x: Tensor) -> Tensor:
        return torch.nn.functional.dropout(x, 0.5) + 1

    drawn = []
    for run in (function, torch.compile(function, backend="dl", dynamic=True)):
        torch.manual_seed(7)
        drawn.append([run(torch.ones(4, n, device="dl")).cpu() for n in (8, 9, 30, 8)])
    for one, other in zip(*drawn, strict=True):
        assert torch.equal(one, other)
    assert statistics.compiled == 1


def test_sizes_of_one_are_not_served() -> None:
    def function(x: Tensor) -> Tensor:
        return (x[1:] * 2).sum(0)

    run = torch.compile(function, backend="dl", dynamic=True)
    for rows in (4, 6, 2, 2, 7, 1):  # of two rows one is left, and torch specializes size 1
        x = torch.randn(rows, 3).to("dl")
        assert_agree(run(x), function(x))
    assert re.search(r"for all sizes: s\d+ from 2 to 1048576.*where .*2 <= -1 \+ s\d+", explain())
    a, n = Expression("a"), Expression("b")
    shapes = Shapes(
        [Symbol("a", 0, -1, 2, 9), Symbol("b", 1, -1, 0, 9)], [a, n], [["<=", 2, "b"]], []
    )
    assert shapes.sizes_of([2, 2], torch.device("dl", 0)) == {"a": 2, "b": 2}
    for sizes in ([1, 2], [2, 1], [10, 2], [True, 2]):
        with pytest.raises(OwnCaseError):
            shapes.sizes_of(sizes, torch.device("dl", 0))


def test_records_that_differ_make_a_program_for_each_layout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = dl_dicp.sizes.all_sizes.unify

    def of_another(one: Any, other: Any, fit: Fit) -> Any:
        del other.steps[-1].calls[-1]
        return right(one, other, fit)

    monkeypatch.setattr(dl_dicp.sizes.all_sizes, "unify", of_another)
    run = torch.compile(step, backend="dl", dynamic=True)
    for before in (4, 6, 9):
        check(run, step, *make_inputs(3, 2, before))
    assert statistics.compiled == 3
    assert "for these sizes only: at other sizes it had other calls in" in explain()


def wrong_everywhere(right: Any) -> Any:
    """Return a fault that takes a varying number for a constant."""
    return lambda self, one, other: one


def wrong_elsewhere(right: Any) -> Any:
    """Return a fault with an expression that is right only at the two recorded sizes."""

    def size(self: Fit, one: int, other: int) -> Any:
        found = right(self, one, other)
        term = next(iter(self._exact.values()))
        if isinstance(found, int) or found == term.expression:
            return found
        slope, rest = divmod(other - one, term.other - term.one)
        return found if rest else term.expression * slope + (one - slope * term.one)

    return size


def wrong_scale(right: Any) -> Any:
    """Return a fault with an expression that has a wrong factor."""

    def size(self: Fit, one: int, other: int) -> Any:
        found = right(self, one, other)
        return found if isinstance(found, int) or isinstance(found.json, str) else found * 2

    return size


@pytest.mark.parametrize("fault", [wrong_everywhere, wrong_elsewhere, wrong_scale])
def test_a_wrong_expression_is_caught(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Tensor) -> Tensor:
        return (x @ x.t()).softmax(-1).cumsum(0)

    monkeypatch.setattr(Fit, "size", fault(Fit.size))
    run = torch.compile(function, backend="dl", dynamic=True)
    for rows in (4, 4, 6, 9, 40):
        x = torch.randn(rows, 3).to("dl")
        assert_agree(run(x), function(x))
    assert all(variant.fixed for variant in variants()), "the wrong program is still there"


def test_a_wrong_constant_is_caught_at_the_next_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """The constant is right at both recorded sizes, and wrong at larger ones."""
    right = dl_dicp.sizes.all_sizes.unify

    def spoilt(one: Any, other: Any, fit: Fit) -> Any:
        made = right(one, other, fit)
        for lowered in made.steps:
            for place, call in enumerate(lowered.calls):
                if call.operator == "diopiMulScalar":
                    rows = call.arguments["out"].shape[0].json
                    value = ["/", ["max", 1, ["-", rows, 6]], 2]
                    scalar = {"dtype": "float64", "value": value}
                    lowered.calls[place] = Call(call.operator, {**call.arguments, "other": scalar})
        return made

    monkeypatch.setattr(dl_dicp.sizes.all_sizes, "unify", spoilt)
    run = torch.compile(lambda x: x * 0.5, backend="dl", dynamic=True)
    for rows in (4, 9, 11):
        x = torch.randn(rows, 3).to("dl")
        assert torch.equal(run(x).cpu(), (x * 0.5).cpu())


def test_a_program_that_fails_at_some_sizes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    run = torch.compile(step, backend="dl", dynamic=True)
    for before in (4, 6):
        check(run, step, *make_inputs(3, 2, before))
    right = Program.run

    def failing(self: Program, arguments: list[Any], sizes: tuple[int, ...] = ()) -> list[Any]:
        if 9 in sizes:
            raise RuntimeError("a view leaves its storage")
        return right(self, arguments, sizes)

    monkeypatch.setattr(Program, "run", failing)
    for before in (5, 9, 9, 5, 5):
        check(run, step, *make_inputs(3, 2, before))
    assert statistics.eager == {"a program failed: a view leaves its storage": 1}
    assert statistics.compiled == 3
    assert [variant.fixed for variant in variants()] == ["a view leaves its storage"] * 2


def test_an_error_in_the_arguments_is_raised_at_all_sizes() -> None:
    run = torch.compile(
        lambda table, rows: torch.nn.functional.embedding(rows, table), backend="dl", dynamic=True
    )
    table = torch.randn(20, 3).to("dl")
    for count in (4, 6, 8):
        run(table, torch.arange(count, device="dl"))
    with pytest.raises((RuntimeError, IndexError), match=r"[Ee]mbedding"):
        run(table, torch.full((5,), 20, device="dl"))
    assert torch.equal(run(table, torch.arange(5, device="dl")).cpu(), table[:5].cpu())
    assert statistics.compiled == 1


def test_what_may_do_more_than_compute_is_not_called_for_records() -> None:
    seen: list[int] = []

    @torch.library.custom_op("dl_dicp_tests::doubled", mutates_args=())
    def doubled(x: Tensor) -> Tensor:
        seen.append(x.shape[0])
        return x * 2

    doubled.register_fake(torch.empty_like)
    run = torch.compile(lambda x: doubled(x) + 1, backend="dl", dynamic=True)
    for rows in (4, 6):
        x = torch.randn(rows, 3).to("dl")
        assert_agree(run(x), x * 2 + 1)
    assert set(seen) == {4, 6}
    assert "dl_dicp_tests.doubled.default may have side effects" in explain()


def test_made_up_integers_are_read_by_no_operator_of_the_host() -> None:
    """An unchecked CPU operator would write out of bounds if segment lengths do not match."""

    def function(data: Tensor, lengths: Tensor) -> Tensor:
        return torch.segment_reduce(data, "sum", lengths=lengths, unsafe=True)

    run = torch.compile(function, backend="dl", dynamic=True)
    for rows in (6, 6, 8):
        lengths = torch.tensor([rows - 3, 3], device="dl")
        given = [torch.randn(rows, 3).to("dl").requires_grad_() for _ in range(2)]
        given[1].data.copy_(given[0].data)
        for x, each in zip(given, (run, function), strict=True):
            each(x, lengths).square().sum().backward()
        assert_agree(given[0].grad, given[1].grad)
    assert "_segment_reduce_backward reads integers on the host" in explain()


def test_made_up_integers_are_read_by_no_operator_that_went_to_the_host_for_them() -> None:
    """The vendor declines invalid pivots; torch's CPU would write out of bounds with them."""

    def function(factors: Tensor, pivots: Tensor) -> Any:
        return torch.lu_unpack(factors, pivots)

    run = torch.compile(function, backend="dl", dynamic=True)
    for rows, columns in ((5, 3), (6, 3), (3, 7)):
        factors, pivots = torch.linalg.lu_factor(torch.randn(rows, columns).to("dl"))
        for made, wanted in zip(run(factors, pivots), function(factors, pivots), strict=True):
            assert_agree(made, wanted)
    assert (
        "aten::lu_unpack.out cannot run on the CPU for dl:0 while its integer arguments"
        in explain()
    )


def test_a_guard_that_always_holds_is_no_wrong_result(monkeypatch: pytest.MonkeyPatch) -> None:
    class Always:
        def __init__(self, *_: Any) -> None:
            pass

        def sizes(self, arguments: list[Any]) -> tuple[int, ...]:
            return (4, 3)

    monkeypatch.setattr(dl_dicp.compiled._C, "ArgumentGuard", Always)
    run = torch.compile(lambda x: x.exp() + 1, backend="dl", dynamic=True)
    for rows in (4, 5):
        x = torch.randn(rows, 3).to("dl")
        assert torch.equal(run(x).cpu(), (x.exp() + 1).cpu())
    (reason,) = statistics.eager
    assert "a different layout than the one for which the graph was compiled" in reason


def symbols(*ranges: tuple[int, int, int, int]) -> _C.ArgumentGuard:
    """Return a guard for a matrix [a, b] and its number of elements."""
    a, b = [1, 0], [1, 1]
    product = [*a, *b, 4, 0]
    layout = (torch.float32, [a, b], [b, 1], -1)
    return _C.ArgumentGuard(0, [layout, product], ranges, [("<=", 2, a), ("<", a, b)])


def test_the_guard_evaluates_relations_and_ranges() -> None:
    guard = symbols((0, 0, 0, 8), (0, 1, 0, 1 << 62))

    def sizes(*shape: int, count: int | None = None) -> Any:
        x = torch.empty(shape, device="dl")
        return guard.sizes([x, x.numel() if count is None else count])

    assert sizes(2, 3) == (2, 3)
    assert sizes(7, 8) == (7, 8)
    assert sizes(2, 3) == (2, 3)
    assert sizes(1, 3) is None  # a relation
    assert sizes(3, 3) is None
    assert sizes(9, 10) is None  # a range
    assert sizes(2, 3, count=7) is None
    assert sizes(2, 3, count=1 << 70) is None
    assert sizes(2, 3, 4) is None
    assert guard.sizes([torch.empty(3, 2, device="dl").t(), 6]) is None
    assert guard.sizes([torch.empty(2, 3), 6]) is None
    assert guard.sizes([torch.empty(2, 3, device="dl")]) is None
    whole = torch.empty(5, 3, device="dl")
    assert guard.sizes([whole[2:4], 6]) == (2, 3)  # wherever it starts


def test_numbers_that_leave_64_bits_are_served_by_no_guard() -> None:
    a = [1, 0]
    cube = [*a, *a, 4, 0, *a, 4, 0]
    guard = _C.ArgumentGuard(0, [a, None], [(0, -1, 0, 1 << 62)], [("<", 0, cube)])
    assert guard.sizes([1 << 20, "any"]) == (1 << 20,)
    assert guard.sizes([1 << 21, "any"]) is None
    assert guard.sizes([1 << 65, "any"]) is None
    for steps in ([1, 1], [1, 0, 1, 0], [2, 0], [9, 0, 1, 0, 2, 0], [0], []):
        with pytest.raises((RuntimeError, ValueError), match="not a valid expression"):
            _C.ArgumentGuard(0, [steps], [(0, -1, 0, 9)])


def shapes_with(*numbers: Expression) -> Shapes:
    names = [Symbol("a", 0, 0, 2, 100), Symbol("b", 0, 1, 2, 100)]
    return Shapes(names, [], [], [Expression("a"), Expression("b"), *numbers])


def cases() -> Iterator[tuple[int, int, Any]]:
    a, b = Expression("a"), Expression("b")
    yield 7, 7, 7
    yield 3, 5, a
    yield 4 * 3 * 4, 4 * 5 * 7, a * b * 4
    yield 3 + 4, 5 + 7, a + b
    yield (3 + 4) * 4 * 8, (5 + 7) * 7 * 8, (a + b) * b * 8


@pytest.mark.parametrize(("one", "other", "want"), list(cases()))
def test_numbers_are_multiples_of_what_is_known(one: int, other: int, want: Any) -> None:
    a, b = Expression("a"), Expression("b")
    found = Fit(shapes_with(a + b), {"a": 3, "b": 4}, {"a": 5, "b": 7}).size(one, other)
    for sizes in ({"a": 3, "b": 4}, {"a": 5, "b": 7}, {"a": 11, "b": 90}):
        assert value_of(found, sizes) == value_of(want, sizes)


def test_numbers_without_an_expression_are_reported() -> None:
    fit = Fit(shapes_with(), {"a": 3, "b": 4}, {"a": 5, "b": 7})
    for one, other in ((3, 6), (1, 2), (0, 4), (-3, -5)):
        wanted = rf"is {one} for the first .* {other} for the second"
        with pytest.raises(FixedSizesError, match=wanted):
            fit.size(one, other)
    assert fit.number(0.5, 0.5) is None
    assert fit.number(3.0, 5.0) == ["/", "a", 1]
    assert fit.number(1 / 12, 1 / 35)[:2] == ["/", 1]
    with pytest.raises(FixedSizesError, match=r"is 2 for the first .* 4 for the second"):
        fit.number(0.5, 0.25)


def test_halves_of_even_sizes_are_multiples() -> None:
    a = Expression("a")
    shapes = shapes_with(a // 2)
    shapes.guards.append(["==", ["%", "a", 2], 0])
    fit = Fit(shapes, {"a": 4, "b": 3}, {"a": 14, "b": 5})
    assert value_of(fit.size(8 * 3, 28 * 5), {"a": 10, "b": 7}) == 20 * 7
    shapes.guards.clear()
    with pytest.raises(AmbiguousError):
        Fit(shapes, {"a": 4, "b": 3}, {"a": 14, "b": 5})


def test_sizes_at_which_expressions_look_alike_are_not_used() -> None:
    a = Expression("a")
    for sizes, other in (
        ({"a": 3, "b": 3}, {"a": 5, "b": 5}),
        ({"a": 3, "b": 6}, {"a": 5, "b": 10}),
        ({"a": 3, "b": 4}, {"a": 5, "b": 4}),
    ):
        with pytest.raises(AmbiguousError):
            Fit(shapes_with(), sizes, other)
    with pytest.raises(AmbiguousError):
        Fit(shapes_with(a % 2), {"a": 3, "b": 4}, {"a": 5, "b": 7})
