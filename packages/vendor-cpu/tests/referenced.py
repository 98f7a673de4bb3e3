"""Calls of operators whose results are held against references: functions that take the inputs by
the names of the schema, floats as wide ones, and return what each output has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from calls import dtypes_of
from diopi_proto import Tensor, Vendor
from diopi_proto.schema import load
from diopi_proto.tolerance import OpClass, compare
from support import FLOATS, Array, Exact, exact, laid_out, stored


class Expected(NamedTuple):
    """An output, and what the bound of its error depends on."""

    value: Any
    length: Any = 1
    magnitude: Any = None


Reference = Callable[..., Mapping[str, Any]]


def wide(array: Array, dtype: str) -> Array:
    """What stored elements mean, in the widest floats."""
    return array.astype(np.clongdouble) if dtype.startswith("complex") else exact(array, dtype)


def run(
    vendor: Vendor,
    name: str,
    reference: Reference,
    dtype: str,
    layout: str = "dense",
    dtypes: Mapping[str, str] | None = None,
    **inputs: Any,
) -> None:
    """Call the operator with the inputs in ``dtype`` and compare all outputs.

    :param dtypes: of parameters where the schema leaves a choice.
    """
    operator = load()[name]
    of = {**dtypes_of(operator, dtype), **(dtypes or {})}
    given: dict[str, Any] = {}
    meant: dict[str, Any] = {}
    for key, value in inputs.items():
        several = isinstance(value, list) and isinstance(value[0], np.ndarray)
        if key not in of or value is None:
            given[key] = meant[key] = value
            continue
        bits = [stored(one, of[key]) for one in (value if several else [value])]
        tensors = [vendor.tensor(laid_out(one, layout), dtype=of[key]) for one in bits]
        means = [wide(one, of[key]) for one in bits]
        given[key] = tensors if several else tensors[0]
        meant[key] = means if several else means[0]
    wanted = reference(**meant)
    outputs: dict[str, Any] = {}
    for parameter in operator.params:
        key = parameter.name
        if key in wanted and key not in given:
            value = wanted[key]
            made = [poisoned(vendor, one, of[key], layout) for one in listed(value)]
            given[key] = made if isinstance(value, list) else made[0]
        if key in wanted:
            outputs[key] = given[key]
    assert outputs.keys() == wanted.keys()
    vendor.op[name](**given)
    for key, value in wanted.items():
        tensors = outputs[key] if isinstance(value, list) else [outputs[key]]
        for tensor, one in zip(tensors, listed(value), strict=True):
            agree(tensor, one, OpClass[operator.op_class.upper()], f"{name}.{key}")


def listed(value: Any) -> list[Expected]:
    several = value if isinstance(value, list) else [value]
    return [one if isinstance(one, Expected) else Expected(one) for one in several]


def poisoned(vendor: Vendor, expected: Expected, dtype: str, layout: str) -> Tensor:
    """An output full of a value that no test expects."""
    poison = stored(np.full(np.shape(expected.value), 77), dtype)
    return vendor.tensor(laid_out(poison, layout), dtype=dtype)


def agree(result: Tensor, expected: Expected, op_class: OpClass, what: str) -> None:
    """Fail unless every element is within the bound of the operator's class."""
    dtype = result.dtype.name
    value = np.asarray(expected.value)
    if dtype in FLOATS:
        value = value.astype(Exact)
    elif not dtype.startswith("complex") or op_class is OpClass.EXACT:
        value = value.astype(dtype)
    terms: dict[str, Any] = {}
    if op_class in (OpClass.REDUCTION, OpClass.MATMUL):
        magnitude = np.abs(value) if expected.magnitude is None else expected.magnitude
        terms = {"reduction_length": expected.length, "magnitude": magnitude}
    elif op_class is OpClass.ROUNDING:
        terms = {"roundings": expected.length}
        if expected.magnitude is not None:
            terms["magnitude"] = expected.magnitude
    outcome = compare(result.numpy(), value, dtype=dtype, op_class=op_class, **terms)
    assert outcome.ok, outcome.report(f"{what}[{dtype}]")
    assert outcome.total == value.size


def slope(function: Callable[[Array], Any], at: Array, step: float = 1e-6) -> Array:
    """The gradient of a function with one result, from its values in longdouble."""
    found = np.zeros(at.shape, Exact)
    for place in np.ndindex(at.shape):
        for sign in (1, -1):
            moved = at.astype(Exact)
            moved[place] += sign * Exact(step)
            found[place] += sign * function(moved) / (2 * Exact(step))
    return found
