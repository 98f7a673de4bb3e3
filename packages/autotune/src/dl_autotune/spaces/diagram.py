"""Decision diagram of the valid configurations, which counts and indexes them without a list.

The diagram has one level for each parameter. A state of a level consists of the already chosen
values that open constraints, those with later parameters, still need. Prefixes with equal such
values share a state, so that memory is proportional to the number of states and edges, not of
configurations. Edges store how many configurations precede them, so that an index is decoded by one
binary search per level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SpaceError
from .constraint import Constraint
from .parameter import Parameter

Positions = NDArray[np.int32]
"""Indices of values in their parameters: shape (configurations, parameters)."""
MOST_EDGES = 20_000_000
"""Maximum number of edges; building more would take over about a gigabyte."""


@dataclass
class _Level:
    first: NDArray[np.int64]
    """Index of the first edge of each state, followed by the number of edges."""
    value: Positions
    """Index of each edge's value in its parameter."""
    target: NDArray[np.int64]
    """State of the next level to which each edge leads."""
    before: NDArray[np.int64]
    """Number of configurations to which all previous edges lead, over all states."""


class Diagram:
    """Configurations, as value positions, that satisfy the constraints.

    :ivar size: number of configurations.
    """

    def __init__(self, parameters: Sequence[Parameter], constraints: Sequence[Constraint]) -> None:
        self._order = _order(parameters, constraints)
        self._radix = np.array([len(parameters[i].values) for i in self._order], dtype=np.int64)
        self._levels = _count(_build(parameters, constraints, self._order))
        self.size = int(self._levels[0].before[-1]) if self._levels else 0

    @classmethod
    def listing(cls, parameters: Sequence[Parameter], rows: Positions) -> Diagram:
        """Create the diagram of exactly these configurations, for recorded spaces."""
        self = cls.__new__(cls)
        self._order = list(range(len(parameters)))
        self._radix = np.array([len(p.values) for p in parameters], dtype=np.int64)
        edges: list[_Edges] = []
        count, states = 1, np.zeros(len(rows), dtype=np.int64)
        for level in range(len(parameters)):
            pairs, inverse = np.unique(
                np.stack([states, rows[:, level]], axis=1), axis=0, return_inverse=True
            )
            targets = np.arange(len(pairs), dtype=np.int64)
            if level + 1 == len(parameters):
                targets = np.zeros(len(pairs), dtype=np.int64)
            edges.append(_Edges(count, pairs[:, 0], pairs[:, 1].astype(np.int32), targets))
            count, states = len(pairs), inverse.reshape(-1).astype(np.int64)
        self._levels = _count(edges)
        self.size = int(self._levels[0].before[-1])
        return self

    def decode(self, indices: NDArray[np.int64]) -> Positions:
        """Return the value positions of configurations, given by their indices, 0 to size - 1."""
        rest = np.asarray(indices, dtype=np.int64).copy()
        state = np.zeros(len(rest), dtype=np.int64)
        found = np.zeros((len(rest), len(self._order)), dtype=np.int32)
        for parameter, level in zip(self._order, self._levels, strict=True):
            goal = level.before[level.first[state]] + rest
            edge = np.searchsorted(level.before, goal, side="right") - 1
            rest = goal - level.before[edge]
            found[:, parameter] = level.value[edge]
            state = level.target[edge]
        return found

    def encode(self, positions: Positions) -> NDArray[np.int64]:
        """Return the indices of configurations; -1 for configurations that are not in the space."""
        rows = np.atleast_2d(positions)
        index = np.zeros(len(rows), dtype=np.int64)
        state = np.zeros(len(rows), dtype=np.int64)
        valid = np.ones(len(rows), dtype=bool)
        for parameter, radix, level in zip(self._order, self._radix, self._levels, strict=True):
            source = np.repeat(np.arange(len(level.first) - 1), np.diff(level.first))
            keys = source * radix + level.value
            wanted = state * radix + rows[:, parameter]
            edge = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            valid &= keys[edge] == wanted
            index += level.before[edge] - level.before[level.first[state]]
            state = level.target[edge]
        return np.where(valid, index, -1)


def _order(parameters: Sequence[Parameter], constraints: Sequence[Constraint]) -> list[int]:
    """Return the parameters in an order that closes constraints early: smallest scope first."""
    place = {p.name: i for i, p in enumerate(parameters)}
    scopes = [[place[name] for name in each.names] for each in constraints]
    order: list[int] = []

    def cost(scope: list[int]) -> float:
        return float(np.prod([len(parameters[i].values) for i in scope if i not in order] or [1]))

    while scopes:
        # Among equal scopes, the scope that shares most parameters with the chosen scopes is
        # first: few states stay open.
        scope = min(scopes, key=lambda s: (cost(s), -len(set(s) & set(order))))
        scopes.remove(scope)
        order += sorted({i for i in scope if i not in order}, key=lambda i: (-_uses(i, scopes), i))
    return order + [i for i in range(len(parameters)) if i not in order]


def _uses(parameter: int, scopes: Sequence[Sequence[int]]) -> int:
    return sum(parameter in scope for scope in scopes)


class _Edges(NamedTuple):
    """Edges of a level, sorted by source state and value."""

    states: int
    source: NDArray[np.int64]
    value: Positions
    target: NDArray[np.int64]


def _build(
    parameters: Sequence[Parameter], constraints: Sequence[Constraint], order: Sequence[int]
) -> list[_Edges]:
    place = {p.name: i for i, p in enumerate(parameters)}
    scopes = [tuple(place[name] for name in each.names) for each in constraints]
    closing = [max((order.index(i) for i in scope), default=0) for scope in scopes]
    levels: list[_Edges] = []
    live: list[int] = []
    states = np.zeros((1, 0), dtype=np.int32)
    edges = 0
    for depth, parameter in enumerate(order):
        count = len(parameters[parameter].values)
        edges += len(states) * count
        if edges > MOST_EDGES:
            open_ones = [c.text for c, at in zip(constraints, closing, strict=True) if at >= depth]
            raise SpaceError(
                f"[space] building would take more than {MOST_EDGES:,} steps, because at parameter"
                f" {parameters[parameter].name} these constraints are still open:"
                f" {'; '.join(open_ones)}. Split them into constraints of fewer parameters"
            )
        source = np.repeat(np.arange(len(states), dtype=np.int64), count)
        value = np.tile(np.arange(count, dtype=np.int32), len(states))
        known = [*live, parameter]
        for constraint, scope, at in zip(constraints, scopes, closing, strict=True):
            if at == depth:
                columns = [
                    value if i == parameter else states[source, live.index(i)] for i in scope
                ]
                kept = _holding(constraint, [parameters[i] for i in scope], columns)
                source, value = source[kept], value[kept]
                if not len(source):
                    raise SpaceError(
                        f"[space] no configuration is valid: constraint {constraint.text} leaves"
                        " no configuration that the constraints before it allow"
                    )
        needed = {i for scope, at in zip(scopes, closing, strict=True) if at > depth for i in scope}
        rest = [i for i in known if i in needed]
        columns = [value if i == parameter else states[source, live.index(i)] for i in rest]
        before = len(states)
        states, target = _distinct(columns, [len(parameters[i].values) for i in rest], len(value))
        levels.append(_Edges(before, source, value, target))
        live = rest
    return levels


def _distinct(
    columns: Sequence[Positions], radix: Sequence[int], rows: int
) -> tuple[Positions, NDArray[np.int64]]:
    """Return the distinct rows of the columns, and the index of each row among them."""
    if not columns:
        return np.zeros((1, 0), dtype=np.int32), np.zeros(rows, dtype=np.int64)
    table = np.stack(columns, axis=1)
    if float(np.prod([float(r) for r in radix])) < 2**62:
        key = np.zeros(rows, dtype=np.int64)
        for column, base in zip(columns, radix, strict=True):
            key = key * base + column
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return table[first], inverse.reshape(-1).astype(np.int64)
    distinct, inverse = np.unique(table, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1).astype(np.int64)


def _holding(
    constraint: Constraint, parameters: Sequence[Parameter], columns: Sequence[Positions]
) -> NDArray[np.bool_]:
    """Evaluate the constraint once for each distinct combination."""
    rows, which = _distinct(columns, [len(p.values) for p in parameters], len(columns[0]))
    columns_of_values = [
        [parameter.values[at] for at in rows[:, i].tolist()]
        for i, parameter in enumerate(parameters)
    ]
    answers = constraint.holding(columns_of_values)
    return np.array(answers, dtype=bool)[which]


def _count(edges: Sequence[_Edges]) -> list[_Level]:
    """Count from the last level; drop edges that lead to no configuration, and empty states."""
    levels: list[_Level] = []
    behind = np.ones(1, dtype=np.int64)
    renumbered = np.zeros(1, dtype=np.int64)
    for states, source, value, target in reversed(edges):
        total = behind[target]
        kept = total > 0
        leads = np.bincount(source[kept], minlength=states)
        counts = np.zeros(states, dtype=np.float64)
        np.add.at(counts, source[kept], total[kept].astype(np.float64))
        if counts.sum() > 2**62:
            raise SpaceError(
                "[space] more than 4e18 configurations: give some parameters a single value"
            )
        summed = np.zeros(states, dtype=np.int64)
        np.add.at(summed, source[kept], total[kept])
        alive = summed > 0
        first = np.concatenate([[0], np.cumsum(leads[alive])])
        before = np.concatenate([[0], np.cumsum(total[kept])])
        levels.append(_Level(first, value[kept], renumbered[target[kept]], before))
        renumbered = np.cumsum(alive) - 1
        behind = summed
    if not behind[0]:
        raise SpaceError("[space] no configuration is valid: the constraints exclude each other")
    return levels[::-1]
