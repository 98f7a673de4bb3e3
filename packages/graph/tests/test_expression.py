"""Size expressions: Python and the executor compute the same values."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dl_graph import GraphBuilder, maximum, minimum
from dl_graph.errors import GraphError
from dl_graph.expression import Expression, as_json, bounds, evaluate, text

SIGNS = ("+", "-", "*", "//", "%", "max", "min")


def random_expression(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["a", "b", rng.randrange(1, 20)])
    sign = rng.choice(SIGNS)
    right = random_expression(rng, depth - 1)
    if sign in ("//", "%"):
        right = ["max", right, 1]
    return [sign, random_expression(rng, depth - 1), right]


@pytest.mark.parametrize("seed", range(60))
def test_the_planner_computes_what_python_computes(seed: int) -> None:
    rng = random.Random(seed)
    size = Expression(["%", random_expression(rng, 4), 977])
    graph = GraphBuilder()
    entry = graph.entry("forward")
    for name in "ab":
        entry.input(name, [entry.symbol(name, 1, 50)], "float32")
    made = entry.empty([maximum(size, 1)], "uint8", name="made")
    entry.call("Fill", made, 1)
    last = entry.empty([1], "uint8")
    entry.call("CastDtype", last, made.narrow(0, 0, 1))
    entry.output("last", last)
    sizes = {"a": rng.randrange(1, 51), "b": rng.randrange(1, 51)}
    least, most = bounds(size.json, {"a": (1, 50), "b": (1, 50)})
    assert least <= evaluate(size.json, sizes) <= most
    wanted = max(evaluate(size.json, sizes), 1)
    assert graph.build().plan("forward", **sizes).bytes == -(-wanted // 64) * 64


def test_arithmetic_of_numbers_is_done_at_once() -> None:
    n = Expression("n")
    assert [as_json(x) for x in (n + 0, 0 + n, n * 1, 1 * n, n - 0, n // 1)] == ["n"] * 6
    assert as_json(n * 0) == 0
    assert (maximum(2, 3), minimum(2, 3)) == (3, 2)
    assert as_json(2 * n + 3) == ["+", ["*", 2, "n"], 3]
    assert text(as_json((n + 1) * 4 % 8)) == "((n + 1) * 4) % 8"
    assert len({n + 1, Expression("n") + 1, n + 2}) == 2
    with pytest.raises(ZeroDivisionError):
        bounds(["//", 4, "n"], {"n": (0, 3)})
    with pytest.raises(TypeError, match="is not a size"):
        as_json(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "json", [["+", "a"], ["/", "a", 2], [2, "a", "a"], {"a": 1}, None, True, ["+", "a", "c"]]
)
def test_what_is_no_expression_is_refused(json: Any) -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    entry.input("a", [entry.symbol("a", 1, 5)], "float32")
    out = entry.empty([Expression(json)])
    entry.call("Fill", out, 1.0)
    entry.output("out", out)
    with pytest.raises(GraphError, match=r"expression|sign|symbol"):
        graph.build()
