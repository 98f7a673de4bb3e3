"""Cases with operands of mixed dtypes, which the contract promotes as PyTorch does.

:mod:`diopi_proto.promotion` determines the participating arguments and the common dtype; references
compute with operands that have been converted to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

from diopi_proto.promotion import Promotion, category, promotion
from diopi_proto.schema import Operator, expand_dtypes

from .case import Case, T
from .dtype_rules import common_dtype, main_dtypes
from .inputs import Array, exact, stored
from .vocabulary import complete, make

SHAPE = "4x7"
PAIRS = (
    *(("bool", "uint8"), ("bool", "int64"), ("bool", "float16"), ("bool", "complex64")),
    *(("uint8", "int8"), ("uint8", "int16"), ("int8", "int64"), ("int16", "int32")),
    *(("uint8", "float64"), ("int64", "float16"), ("int32", "bfloat16"), ("int64", "float32")),
    *(("float16", "bfloat16"), ("float16", "float32"), ("bfloat16", "float64")),
    *(("float32", "float64"), ("int64", "complex64"), ("float16", "complex64")),
    *(("float64", "complex64"), ("float32", "complex128"), ("complex64", "complex128")),
)
"""Pairs of all categories, and pairs within a category that do not promote to the wider dtype."""
SCALARS = (("bool", True), ("int64", 2), ("float32", 1.5))
"""Scalars, and the dtypes that they have in promotion."""
WIDENED = (
    *(("bool", "uint8"), ("bool", "float32"), ("int8", "int64"), ("uint8", "float32")),
    *(("int8", "float64"), ("int16", "complex64")),
)
"""Operand dtypes, and result dtypes of a higher category or width that represent them exactly."""
DIVISOR = dict(low=1, high=4)
RANGES: Mapping[str, Mapping[str, Any]] = {
    "other of division": DIVISOR,
    "exponent of power": dict(low=0, high=3),
    "input of power": dict(low=1, high=3),
}
"""Bounds of random elements, for operands with a limited domain."""
CALLS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "division": tuple({"rounding_mode": f"RoundMode{x}"} for x in ("None", "Trunc", "Floor")),
    "arithmetic": ({"alpha": 2},),
    "where": ({"condition": T(SHAPE, dtype="bool", plain=True)},),
}
"""Additional arguments of the calls of a family; an operator takes those that it has."""


def mixed_cases(operator: Operator) -> Iterator[Case]:
    """Yield the mixed-dtype cases of an operator."""
    rule = promotion(operator.name)
    if rule is None:
        return
    named = {x.name for x in operator.params}
    others = [x for x in CALLS.get(operator.family, ()) if named & set(x)] or [{}]
    for more in others:
        for call, edge, layout in _calls(operator, rule):
            case = _case(operator, rule, {**more, **call}, edge, layout)
            if case is not None:
                yield case
        for case in _widened(operator, rule, more):
            if case is not None:
                yield case


def _widened(operator: Operator, rule: Promotion, more: Mapping[str, Any]) -> Iterator[Case | None]:
    """Yield cases whose result is converted from the common dtype to another dtype."""
    if rule.kind != "common" or rule.floating:
        return
    tensors = [x for x in rule.operands if operator.parameter(x).is_tensor]
    numbers = {x: 2 for x in rule.operands if x not in tensors}
    for dtype, result in WIDENED:
        if dtype not in main_dtypes(operator) or (dtype == "bool" and numbers):
            continue
        call = {**more, **_tensors(operator, tensors, [dtype], [SHAPE]), **numbers}
        yield _case(operator, rule, call, "", "", result)


def _calls(operator: Operator, rule: Promotion) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yield operands, their kind of edge values, and their layout."""
    tensors = [x for x in rule.operands if operator.parameter(x).is_tensor]
    scalars = [x for x in rule.operands if x not in tensors]
    in_place = operator.parameter(rule.result).direction == "inout"
    edge = "extreme" if operator.op_class == "exact" or rule.kind == "boolean" else ""
    for dtype in main_dtypes(operator) if scalars else ():
        for scalar_dtype, value in SCALARS:
            if category(scalar_dtype) != category(dtype) and scalar_dtype in main_dtypes(operator):
                values = dict.fromkeys(scalars, value)
                yield {**_tensors(operator, tensors, [dtype], [SHAPE]), **values}, "", ""
    for pair in PAIRS if len(tensors) > 1 else ():
        for dtypes in permutations(pair):
            yield _tensors(operator, tensors, dtypes, (SHAPE, SHAPE)), "", ""
            yield _tensors(operator, tensors, dtypes, (SHAPE, "-")), "", ""
        both = _tensors(operator, tensors, pair, (SHAPE if in_place else "-", SHAPE))
        yield both, "", "strided"
        if edge:
            yield (
                _tensors(operator, tensors, pair[:: -1 if in_place else 1], (SHAPE, SHAPE)),
                edge,
                "",
            )


def _tensors(operator: Operator, names: list[str], dtypes: Any, shapes: Any) -> dict[str, T]:
    """Return operands of these dtypes and shapes; the last dtype and shape serve further
    operands."""
    found = {}
    for at, name in enumerate(names):
        dtype, shape = (x[min(at, len(x) - 1)] for x in (dtypes, shapes))
        given = RANGES.get(f"{name} of {operator.family}", {})
        # A divisor must not be 0.
        values = [1] if dtype == "bool" and given.get("low", 0) > 0 else None
        found[name] = T(shape, dtype=dtype, values=values, **given)
    return found


def _case(
    operator: Operator,
    rule: Promotion,
    call: Mapping[str, Any],
    edge: str,
    layout: str,
    widened: str = "",
) -> Case | None:
    """Return the case of a call, or None if the operator does not support it.

    :param widened: dtype of the result, if it is not the common dtype of the operands.
    """
    arguments = complete(operator, call)
    dtypes = {x: v.dtype for x, v in arguments.items() if isinstance(v, T) and v.dtype}
    common = common_dtype(rule, arguments, dtypes)
    if common is None or common not in main_dtypes(operator):
        return None
    whole = "rounding_mode" in arguments and not is_true_division(arguments)
    if whole and category(common) > 2:
        return None
    for name in rule.operands:
        if name in dtypes and dtypes[name] not in _allowed(operator, name):
            return None
    result = "float32" if is_true_division(arguments) and category(common) < 2 else common
    if operator.parameter(rule.result).direction == "inout":
        if rule.kind == "converted" and category(result) > category(dtypes[rule.result]):
            return None
    elif rule.kind != "boolean":
        arguments[rule.result] = T("-", dtype=widened or result)
    kind = f"mixed-into {widened}" if widened else "mixed"
    return make(operator, common, arguments, call, layout or "contiguous", edge, kind)


def _allowed(operator: Operator, name: str) -> tuple[str, ...]:
    return expand_dtypes(operator.parameter(name).dtype or "any", operator.dtypes)


def is_true_division(arguments: Mapping[str, Any]) -> bool:
    """Return True if quotients of integers are floating-point numbers."""
    return str(arguments.get("rounding_mode", "")).lower().endswith("none")


def operand_dtypes(case: Case) -> set[str]:
    """Return the dtypes of the tensors that take part in promotion; otherwise the case's dtype."""
    rule = promotion(case.operator)
    if rule is None:
        return {case.dtype}
    names = [*rule.operands, *([rule.result] if rule.kind == "common" else [])]
    values = ((name, case.arguments.get(name)) for name in names)
    return {case.dtype}.union(
        value.dtype or case.dtypes[name] for name, value in values if isinstance(value, T)
    )


def promoted(case: Case, wide: Mapping[str, Any], number: Any) -> dict[str, Any]:
    """Return the arguments with all operands converted to their common dtype."""
    rule = promotion(case.operator)
    found = dict(wide)
    if rule is None:
        return found
    common = common_dtype(rule, case.arguments, case.dtypes)
    for name in rule.operands:
        value = case.arguments.get(name)
        if isinstance(value, T) and (value.dtype or case.dtypes[name]) != common and common:
            found[name] = _converted(found[name], common, number)
    return found


def _converted(values: Array, dtype: str, number: Any) -> Array:
    return exact(stored(values, dtype), dtype, number)
