"""The arguments of the suite's cases, and slopes of references, for checks of references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from diopi_proto.schema import load
from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.inputs import Array, uniform
from dl_conformance.reference import as_expected, compute

STEP = np.longdouble(2) ** -31
"""Step of numerical derivatives; small because of kinks, with a longdouble error of 1e-9."""


def arguments_of(operator: str, dtype: str = "float64") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the exact arguments of the reference for each case of a dtype without edge values."""
    for case in cases_of(operator):
        if case.dtype != dtype or case.edge or case.layout != "contiguous" or case.models:
            continue
        inputs = CaseInputs(case)
        yield case.name, inputs.wide


def results_of(operator: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of a reference for the given arguments that it reads."""
    entry = load()[operator]
    read = {p.name for p in entry.params[1:] if p.direction != "out"}
    outputs = {
        p.name for p in entry.outputs if p.direction == "out" or given.get(p.name) is not None
    }
    found = compute(operator, {k: v for k, v in given.items() if k in read}, outputs)
    return {k: _value(v) for k, v in found.items()}


def _value(found: Any) -> Any:
    return (
        [_value(x) for x in found]
        if isinstance(found, list)
        else np.asarray(as_expected(found).value)
    )


def direction(key: str, like: Array) -> Array:
    """Return numbers of both signs in the shape of an array."""
    return uniform(key, like.size, -1, 1).reshape(like.shape).astype(np.longdouble)


def slope(
    operator: str, output: str, grad: Array, given: Mapping[str, Any], name: str, along: Array
) -> Any:
    """Return the derivative of the sum of ``grad`` · ``output`` along a direction of an input."""
    ends = []
    for sign in (1, -1):
        moved = {**given, name: given[name] + sign * STEP * along}
        ends.append(np.sum(results_of(operator, moved)[output] * grad))
    return (ends[0] - ends[1]) / (2 * STEP)
