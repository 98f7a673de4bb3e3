"""Conversion of a call's arguments to the form of a graph file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from diopi_proto.errors import ArgumentError
from diopi_proto.host.plan import plan_for
from diopi_proto.host.scalar import Scalar
from diopi_proto.schema import Parameter

from .expression import Expression, Json, as_json
from .value import Value


def argument_json(
    operator: str, positional: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Json]:
    """Return all arguments of a call by parameter name.

    :raises ArgumentError: an argument is missing, unknown or of the wrong type.
    """
    plan = plan_for(operator)
    given = plan.bind(positional, named)
    out = {}
    for parameter in plan.operator.params[1:]:
        if parameter.name in given:
            value = given[parameter.name]
            try:
                out[parameter.name] = None if value is None else _json(parameter, value)
            except (TypeError, ValueError, AttributeError) as error:
                raise ArgumentError(
                    f"[{operator}] {parameter.name}: {error}",
                    operator=operator,
                    parameter=parameter.name,
                ) from error
    return out


def _json(parameter: Parameter, value: Any) -> Json:
    kind = parameter.value_type.removeprefix("const ").removesuffix("*")
    if parameter.is_tensor:
        return _index(value)
    if parameter.is_tensor_pointer:
        return [None if entry is None else _index(entry) for entry in value]
    if kind == "diopiGeneratorHandle_t":
        return list(value) if parameter.type.endswith("*") else str(value)
    if kind == "diopiSize_t":
        return [as_json(entry) for entry in value]
    if kind == "diopiScalar_t":
        return _scalar(value)
    if kind in ("float", "double"):
        return float(value).hex()
    if kind == "bool":
        return bool(value)
    if kind in ("int64_t", "int32_t", "int"):
        return as_json(value)
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string, the name of an enumerator")
    return value


def _index(value: Any) -> int:
    if not isinstance(value, Value):
        raise TypeError(f"{value!r} is not a value of the graph")
    return value.index


def _scalar(value: Any) -> Json:
    number: Any = value
    if isinstance(value, Scalar):
        dtype, number = value.resolved().name, value.value
    elif isinstance(value, bool | np.bool_):
        dtype, number = "bool", int(value)
    elif isinstance(value, float | np.floating):
        dtype = "float64"
    else:
        dtype = "int64"
    whole = "float" not in dtype
    if not whole and isinstance(number, Expression):
        raise TypeError("a size cannot be a floating-point scalar")
    return {"dtype": dtype, "value": as_json(number) if whole else float(number).hex()}
