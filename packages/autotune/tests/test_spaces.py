"""Search spaces: valid configurations, their indices, features, and refused declarations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl_autotune import SearchSpace, SpaceError

PARAMETERS: dict[str, list[Any]] = {
    "tile": [4, 8, 16, 32],
    "lanes": [1, 2, 4, 8],
    "unroll": [0, 1, 2],
    "layout": ["row", "column"],
    "prefetch": [False, True],
}


def tiles_divide(tile: int, lanes: int) -> bool:
    return tile % lanes == 0


CONSTRAINTS: list[Any] = [
    tiles_divide,
    "tile * lanes * (1 + prefetch) <= 128",
    "unroll == 0 or lanes > 1",
    "not (layout == 'row' and unroll == 2)",
]


def by_hand() -> list[dict[str, Any]]:
    """Filter the Cartesian product one by one."""
    rows = [dict(zip(PARAMETERS, v, strict=True)) for v in itertools.product(*PARAMETERS.values())]
    return [
        r
        for r in rows
        if r["tile"] % r["lanes"] == 0
        and r["tile"] * r["lanes"] * (1 + r["prefetch"]) <= 128
        and (r["unroll"] == 0 or r["lanes"] > 1)
        and not (r["layout"] == "row" and r["unroll"] == 2)
    ]


def key(config: dict[str, Any]) -> str:
    return repr(sorted(config.items()))


def test_the_space_has_what_satisfies_the_constraints_and_nothing_else() -> None:
    space = SearchSpace(PARAMETERS, CONSTRAINTS)
    assert sorted(map(key, space.configs())) == sorted(map(key, by_hand()))
    assert space.size == len(by_hand()) < 192
    assert all(list(config) == list(PARAMETERS) for config in space.configs())


def test_points_and_configurations_translate_both_ways() -> None:
    space = SearchSpace(PARAMETERS, CONSTRAINTS)
    for point in range(space.size):
        assert space.point(space.config(point)) == point
    assert space.point({**space.config(0), "tile": 4, "lanes": 8}) is None
    assert space.point({**space.config(0), "tile": 5}) is None
    with pytest.raises(SpaceError, match="point 9999 is not in 0 to"):
        space.config(9999)
    with pytest.raises(SpaceError, match="does not match the parameters"):
        space.point({"tile": 4})


def test_a_space_of_listed_configurations_has_exactly_those() -> None:
    space = SearchSpace.of_configs(by_hand()[::-3])
    assert sorted(map(key, space.configs())) == sorted(map(key, by_hand()[::-3]))
    assert space.points_of(by_hand()[::-3]) != list(range(space.size))
    with pytest.raises(SpaceError, match="listed twice"):
        SearchSpace.of_configs([by_hand()[0]] * 2)
    with pytest.raises(SpaceError, match="differ in their parameters"):
        SearchSpace.of_configs([{"a": 1}, {"b": 1}])


def test_a_large_space_is_built_by_pruning_and_not_by_listing() -> None:
    asked = []

    def fits(tile_m: int, tile_n: int) -> bool:
        asked.append((tile_m, tile_n))
        return tile_m * tile_n <= 64

    parameters = {f"tile_{x}": list(range(1, 21)) for x in "mnkij"}
    parameters |= {f"free_{i}": list(range(30)) for i in range(6)}
    space = SearchSpace(parameters, [fits, "tile_i + tile_j != 7"])
    pairs = sum(m * n <= 64 for m in range(1, 21) for n in range(1, 21))
    assert space.size == pairs * 20 * (400 - 6) * 30**6
    assert len(asked) == 400
    points = space.sample(1000, seed=3)
    assert len(set(points)) == 1000
    positions = space.positions(points)
    assert space.points(positions).tolist() == points
    assert all(c["tile_m"] * c["tile_n"] <= 64 for c in map(space.config, points[:50]))  # type: ignore[operator]
    assert space.sample(1000, seed=3) == points != space.sample(1000, seed=4)


def test_sampling_is_uniform_over_valid_configurations() -> None:
    # Half of the space has a = 0, although that is one of many values.
    space = SearchSpace({"a": range(11), "b": range(10)}, ["a == 0 or b == 0"])
    share = [space.config(p)["a"] == 0 for p in space.sample(20, seed=1)]
    assert space.size == 20
    assert sum(share) == 10


def test_neighbours_differ_in_one_parameter_and_are_valid() -> None:
    space = SearchSpace(PARAMETERS, CONSTRAINTS)
    for point in range(0, space.size, 7):
        here = space.config(point)
        expected = {
            key(c) for c in by_hand() if sum(c[n] != here[n] for n in here) == 1
        }  # fmt: skip
        assert {key(space.config(p)) for p in space.neighbours(point)} == expected
        near = [space.config(p) for p in space.neighbours(point, steps=True)]
        tiles = PARAMETERS["tile"]
        assert all(abs(tiles.index(c["tile"]) - tiles.index(here["tile"])) <= 1 for c in near)


def test_features_are_logarithms_products_ratios_and_resources() -> None:
    space = SearchSpace(
        {"m": [8, 16, 32], "n": [2, 4, 8], "u": [0, 1, 2], "layout": ["a", "b", "c"]},
        resources={"bytes": lambda m, n: 4 * m * n},
    )
    table = space.features
    (row,) = table.of(space.positions([space.point({"m": 16, "n": 8, "u": 2, "layout": "b"})]))  # type: ignore[list-item]
    found = dict(zip(table.names, row.tolist(), strict=True))
    assert found == {
        "m": 4, "n": 3, "u": 2, "layout=a": 0, "layout=b": 1, "layout=c": 0,
        "u twos": 1, "m*n": 7, "m/n": 1, "bytes": pytest.approx(np.log2(513)),
    }  # fmt: skip
    assert table.scaled(space.positions(range(space.size))).min() == 0.0
    assert table.scaled(space.positions(range(space.size))).max() == 1.0


def fails(tile: int) -> bool:
    return 1 // (tile - 16) >= 0


def failing_resource(tile: int) -> float:
    raise KeyError(tile)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SearchSpace({}), "there are no parameters"),
        (lambda: SearchSpace({"a": []}), "parameter a: there are no values"),
        (lambda: SearchSpace({"a b": [1]}), "'a b': the name is not an identifier"),
        (lambda: SearchSpace({"a": [1, 1]}), "parameter a: 1 is given twice"),
        (lambda: SearchSpace({"a": [None]}), "parameter a: None is neither"),  # type: ignore[list-item]
        (lambda: SearchSpace({"a": [float("inf")]}), "parameter a: inf is not finite"),
        (
            lambda: SearchSpace({"a": "abc"}),
            r"parameter a: 'abc' is not a list of values; write \['abc'\]",
        ),
        (lambda: SearchSpace({"a": 5}), "parameter a: 5 is not a list of values"),  # type: ignore[dict-item]
        (lambda: SearchSpace({"a": [[1]]}), r"parameter a: \[1\] is neither"),  # type: ignore[list-item]
        (lambda: SearchSpace(["a"]), "'a' is not a Parameter"),  # type: ignore[list-item]
        (lambda: SearchSpace("a"), "'a' is not a mapping"),  # type: ignore[arg-type]
        (lambda: SearchSpace(5), "5 is not a mapping"),  # type: ignore[arg-type]
        (lambda: SearchSpace({"a": [1]}, 5), "constraints is 5: give a list"),  # type: ignore[arg-type]
        (lambda: SearchSpace({"a": [1]}, [5]), "constraint 5 is neither"),  # type: ignore[list-item]
        (lambda: SearchSpace.of_configs([{"a": [1]}]), "parameter a: values must be"),  # type: ignore[dict-item]
        (lambda: SearchSpace({"a": [1]}).point({"a": [1]}), r"parameter a: \[1\] is not a single"),  # type: ignore[dict-item]
        (lambda: SearchSpace({"a": [1]}).point({"a": 1, "b": 2}), "parameters a: 'b' is unknown"),
        (lambda: SearchSpace({"a": [1]}).point({"b": 2}), "a: it lacks a and 'b' is unknown"),
        (lambda: SearchSpace({"a": [2]}, ["9**9**a**9 > 0"]), "failed for a=2: OverflowError: 9"),
        (lambda: SearchSpace({"a": [2]}, ["pow(9, pow(9, 9)) > a"]), "387420489 is too large"),
        (lambda: SearchSpace({"a": [2]}, ["1 << 9**9**a > 0"]), "is too large"),
        (lambda: SearchSpace({"a": [2]}, ["len('x' * 10**9) > a"]), "exceed the limit"),
        (lambda: SearchSpace({"a": [1]}, ["a = 1"]), "'a = 1' is not an expression"),
        (lambda: SearchSpace({"a": [1]}, ["a.real > 0"]), "Attribute is not allowed"),
        (lambda: SearchSpace({"a": [1]}, ["open(a)"]), "may call only abs"),
        (lambda: SearchSpace({"a": [1]}, ["1 > 0"]), "names no parameter"),
        (lambda: SearchSpace({"a": [1]}, ["a > b"]), "a > b names b, which is not a parameter"),
        (lambda: SearchSpace({"a": [1]}, [lambda *x: True]), "is not a plain parameter"),
        (lambda: SearchSpace({"a": [1, 2]}, ["a > 2"]), "constraint a > 2 leaves no configuration"),
        (
            lambda: SearchSpace({"a": [1, 2], "b": [1, 2]}, ["a > b", "b > a - 0"]),
            "no configuration is valid",
        ),
        (lambda: SearchSpace({"tile": [8, 16]}, [fails]), "fails .* failed for tile=16: ZeroDiv"),
        (lambda: SearchSpace({f"p{i}": range(99) for i in range(10)}), "more than 4e18"),
        (
            lambda: SearchSpace({"tile": [8]}, resources={"r": failing_resource}).features.of(
                np.array([[0]], dtype=np.int32)
            ),
            "resource r failed",
        ),
        (
            lambda: SearchSpace({f"p{i}": range(300) for i in range(3)}, ["p0+p1+p2 != 7"]),
            "more than 20,000,000 steps.*p0\\+p1.*fewer parameters",
        ),
    ],
)
def test_the_fault_is_named(build: Callable[[], object], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        build()


def test_expressions_calculate_as_python_does() -> None:
    values = {"a": [0, 1, 2, 8], "b": [-2, 0.5, 3]}
    for text in (
        "2 ** a < 100", "a ** b if a else b > 0", "pow(a, 3, 7) == 1", "1 << a > b",
        "a * b * 2 > 8",
        "a << 2 == 4 * a", "len((1, 2) * a) > b", "2 ** -a < 1", "a ** 64 > 10 ** 18",
    ):  # fmt: skip
        space = SearchSpace(values, text)
        found = [
            {"a": a, "b": b}
            for a in values["a"]
            for b in values["b"]
            if eval(text, {"a": a, "b": b})
        ]
        assert sorted(map(key, space.configs())) == sorted(map(key, found))


def test_numbers_of_numpy_are_taken_as_those_of_python() -> None:
    space = SearchSpace({"a": np.arange(1, 4), "b": [np.float32(0.5), np.bool_(True)]})
    assert [type(value) for p in space.parameters for value in p.values] == [int] * 3 + [
        float,
        bool,
    ]
    assert space.config(0) == {"a": 1, "b": 0.5}
    assert space.point({"a": np.int64(2), "b": 0.5}) is not None
