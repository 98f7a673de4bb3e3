"""The arguments of the suite's cases, and slopes of references, for checks of references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from diopi_proto.schema import load
from dl_conformance.catalog import cases_of
from dl_conformance.execute import Run, expected
from dl_conformance.inputs import Array, uniform
from dl_conformance.reference import compute

STEP = np.longdouble(2) ** -31
"""Short, because some slopes have kinks; what longdouble loses by it is 1e-9."""


def arguments_of(operator: str, dtype: str = "float64") -> Iterator[tuple[str, dict[str, Any]]]:
    """What the reference gets in each case of a dtype: exact numbers, without edge values."""
    for case in cases_of(operator):
        if case.dtype != dtype or case.edge or case.layout != "contiguous" or case.models:
            continue
        work = Run(None, case)  # type: ignore[arg-type]
        work.make_inputs()
        yield case.name, work.wide


def results_of(operator: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the reference of an operator gives, of all that is given those that it reads."""
    entry = load()[operator]
    read = {p.name for p in entry.params[1:] if p.direction != "out"}
    outputs = {
        p.name for p in entry.outputs if p.direction == "out" or given.get(p.name) is not None
    }
    found = compute(operator, {k: v for k, v in given.items() if k in read}, outputs)
    return {k: _value(v) for k, v in found.items()}


def _value(found: Any) -> Any:
    return (
        [_value(x) for x in found] if isinstance(found, list) else np.asarray(expected(found).value)
    )


def direction(key: str, like: Array) -> Array:
    """Numbers of either sign in the shape of an array."""
    return uniform(key, like.size, -1, 1).reshape(like.shape).astype(np.longdouble)


def slope(
    operator: str, output: str, grad: Array, given: Mapping[str, Any], name: str, along: Array
) -> Any:
    """How fast the sum of ``grad`` · ``output`` grows where the input ``name`` moves ``along``."""
    ends = []
    for sign in (1, -1):
        moved = {**given, name: given[name] + sign * STEP * along}
        ends.append(np.sum(results_of(operator, moved)[output] * grad))
    return (ends[0] - ends[1]) / (2 * STEP)
