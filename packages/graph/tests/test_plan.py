"""The memory planner: live tensors share no memory, and the plan is small."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from dl_graph import ContractGraph, GraphBuilder, Value
from graph_models import MODELS

ALIGNMENT = 64


def random_graph(seed: int, temporaries: int, *, in_place: bool) -> ContractGraph:
    """Return a graph of calls on random temporaries: Add may write over its inputs, Mm may not."""
    rng = random.Random(seed)
    graph = GraphBuilder()
    entry = graph.entry("forward")
    x = entry.input("x", [1, 1], "float32")
    made: list[Value] = []
    for _ in range(temporaries):
        columns = rng.choice([1, 20, 70, 200, 333])
        source = rng.choice([x, *made])
        out = entry.empty([1, columns])
        if in_place and source.shape == out.shape:
            entry.call("Relu", out, source)
        else:
            entry.call(
                "Mm", out, source.narrow(1, 0, 1), entry.input(_name(rng), [1, columns], "float32")
            )
        made.append(out)
    for value in rng.sample(made, min(3, len(made))):
        result = entry.empty([1, 1])
        entry.call("Mm", result, value.narrow(1, 0, 1), x)
        entry.output(f"y{result.index}", result)
    return graph.build()


def _name(rng: random.Random) -> str:
    return f"in{rng.getrandbits(60)}"


def lifetimes(graph: ContractGraph) -> dict[int, tuple[int, int, int]]:
    """Return the first and last call and the aligned size in bytes of each temporary."""
    entry = graph.entry("forward")
    found: dict[int, tuple[int, int, int]] = {}
    for number, (_, arguments) in enumerate(entry["calls"]):
        for key, index in arguments.items():
            if key not in ("out", "input", "mat2"):
                continue
            storage = entry["values"][index]["storage"]
            described = entry["storages"][storage]
            if described["kind"] == "temp":
                size = -(-described["bytes"] // ALIGNMENT) * ALIGNMENT
                first = found.get(storage, (number, 0, 0))[0]
                found[storage] = (first, number, size)
    return found


def least_bytes(lives: list[tuple[int, int, int]]) -> int:
    """Return the size of an optimal plan, from all orders of placing each as low as possible."""

    def total(order: tuple[tuple[int, int, int], ...]) -> int:
        placed: list[tuple[int, int, int, int]] = []
        for first, last, size in order:
            offset = 0
            for at, other, a, b in sorted(placed):
                if a <= last and first <= b and offset + size > at:
                    offset = max(offset, at + other)
            placed.append((offset, size, first, last))
        return max((at + size for at, size, _, _ in placed), default=0)

    return min(map(total, itertools.permutations(lives)), default=0)


def sharing(offsets: dict[int, int], lives: dict[int, tuple[int, int, int]]) -> Iterator[str]:
    for a, b in itertools.combinations(lives, 2):
        (first_a, last_a, size_a), (first_b, last_b, size_b) = lives[a], lives[b]
        apart = offsets[a] + size_a <= offsets[b] or offsets[b] + size_b <= offsets[a]
        # One may overwrite the other at the call that uses both.
        handed_on = offsets[a] == offsets[b] and (last_a == first_b or last_b == first_a)
        if not apart and not handed_on and first_a <= last_b and first_b <= last_a:
            yield f"{a} and {b}"


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_of_few_temporaries_is_the_best_there_is(seed: int) -> None:
    graph = random_graph(seed, 6, in_place=False)
    lives = lifetimes(graph)
    plan = graph.plan("forward")
    assert plan.bytes == least_bytes(list(lives.values()))
    assert plan.most_live <= plan.bytes <= plan.apart == sum(size for _, _, size in lives.values())


def test_the_brute_force_planner_knows_a_plan_that_is_not_trivial() -> None:
    # Three that overlap in pairs: at most 3 bytes are live at once, and 3 are enough.
    assert least_bytes([(0, 1, 1), (1, 2, 2), (2, 3, 1)]) == 3


@pytest.mark.parametrize("seed", range(30))
def test_no_two_live_temporaries_share_memory(seed: int) -> None:
    graph = random_graph(seed, 40, in_place=True)
    lives, plan = lifetimes(graph), graph.plan("forward")
    assert not list(sharing(dict(plan.offsets), lives))
    assert all(offset % ALIGNMENT == 0 for offset in plan.offsets.values())
    assert plan.bytes <= 1.10 * plan.most_live


@pytest.mark.parametrize("name", MODELS)
def test_models_need_at_most_a_tenth_more_than_is_live(name: str) -> None:
    graph = MODELS[name][0]().build()
    for entry in graph.entries:
        plan = graph.plan(entry)
        assert plan.bytes <= 1.10 * plan.most_live


def test_a_result_takes_the_place_of_what_it_replaces() -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    value = entry.input("x", [100], "float32")
    for _ in range(5):
        out = entry.empty([100])
        entry.call("Relu", out, value)
        value = out
    result = entry.empty([100])
    entry.call("Relu", result, value)
    entry.output("y", result)
    assert graph.build().plan("forward").bytes == 448


def test_a_value_that_is_still_needed_keeps_its_place() -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    x = entry.input("x", [16], "float32")
    first, second, y = entry.empty([16]), entry.empty([16]), entry.empty([16])
    entry.call("Relu", first, x)
    entry.call("Relu", second, first)
    entry.call("Add", y, first, second, 1)
    entry.output("y", y)
    assert graph.build().plan("forward").bytes == 128


def test_a_plan_follows_the_sizes() -> None:
    graph = MODELS["mlp"][0]().build()
    assert [graph.plan("forward", batch=n).bytes for n in (1, 2, 64)] == [64, 128, 4096]
