"""Operators held against references that read their inputs by the names of the schema.

A reference takes what the operator takes, floats as float64, and returns its outputs by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calls import dtypes_of
from diopi_proto import Tensor, Vendor
from diopi_proto.schema import load
from diopi_proto.tolerance import OpClass
from referenced import Expected, Reference
from support import FLOATS, Array, check, out_like, place

REFERENCES: dict[str, Reference] = {}


def reference(name: str) -> Callable[[Reference], Reference]:
    """Register the reference of an operator."""

    def register(function: Reference) -> Reference:
        REFERENCES[name] = function
        return function

    return register


def transposed(forward: Callable[[Array], Array], shape: tuple[int, ...], grad: Array) -> Array:
    """What the gradient of a linear function is: its columns, found one by one, times `grad`."""
    result = np.zeros(shape)
    for place_in in np.ndindex(shape):
        one = np.zeros(shape)
        one[place_in] = 1
        result[place_in] = np.sum(forward(one) * grad)
    return result


def as_expected(value: Any) -> Expected:
    return value if isinstance(value, Expected) else Expected(np.asarray(value))


def check_operator(
    vendor: Vendor, name: str, dtype: str = "float32", layout: str = "dense", **arguments: Any
) -> dict[str, Tensor]:
    """Run an operator with arguments by name and hold all its outputs against its reference."""
    operator = load()[name]
    dtypes = dtypes_of(operator, dtype)
    known: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for parameter in operator.params[1:]:
        key = parameter.name
        value = arguments.get(key)
        if parameter.is_tensor and parameter.direction != "out" and value is not None:
            made[key], meaning = place(vendor, value, dtypes[key], layout)
            known[key] = meaning.astype(np.float64) if dtypes[key] in FLOATS else meaning
        elif parameter.direction != "out":
            made[key] = known[key] = value
    wanted = {key: as_expected(value) for key, value in REFERENCES[name](**known).items()}
    results: dict[str, Tensor] = {}
    for parameter in operator.params[1:]:
        key = parameter.name
        if parameter.direction == "out" and parameter.allocated_by != "vendor":
            shape = wanted[key].value.shape if key in wanted else arguments.get(key)
            made[key] = None if shape is None else out_like(vendor, shape, dtypes[key], layout)
    in_order = {p.name: made[p.name] for p in operator.params[1:] if p.name in made}
    returned = vendor.op[name](**in_order)
    several = returned if isinstance(returned, tuple) else (returned,)
    for key in wanted:
        results[key] = made[key] if key in made else several[len(results)]
    for key, want in wanted.items():
        op_class = OpClass(operator.op_class)
        terms = {}
        if op_class in (OpClass.REDUCTION, OpClass.MATMUL):
            terms = {"reduction_length": want.length}
        if want.magnitude is not None and op_class is not OpClass.EXACT:
            terms["magnitude"] = want.magnitude
        if results[key].dtype.name not in FLOATS:
            op_class, terms = OpClass.EXACT, {}
        check(results[key], want.value, op_class, f"{name}.{key}", **terms)
    return results
