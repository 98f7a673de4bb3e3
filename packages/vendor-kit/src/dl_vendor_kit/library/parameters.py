"""Kinds of the parameters of the contract's operators."""

from __future__ import annotations

from diopi_proto.schema import Operator, Parameter

_KINDS = {
    "diopiTensorHandle_t": "tensor",
    "diopiConstTensorHandle_t": "tensor",
    "diopiTensorHandle_t*": "tensors",
    "diopiConstTensorHandle_t*": "tensors",
    "diopiSize_t": "ints",
    "const diopiScalar_t*": "scalar",
    "diopiScalar_t*": "scalar",
    "bool": "bool",
    "int64_t": "int",
    "int32_t": "int",
    "diopiReduction_t": "int",
    "diopiRoundMode_t": "int",
    "diopiMemoryFormat_t": "int",
    "double": "double",
    "float": "double",
    "const char*": "string",
    "const int64_t*": "optional_int",
    "const double*": "optional_double",
    "const bool*": "optional_bool",
    "diopiGeneratorHandle_t": "generator",
    "diopiDtype_t": "dtype",
}


_VALUES = {
    "diopiReduction_t": ("none", "mean", "sum"),
    "diopiRoundMode_t": ("none", "trunc", "floor"),
    "diopiMemoryFormat_t": (
        *("contiguous", "channels_last", "channels_last_3d", "preserve", "channels_last_1d"),
    ),
}
"""Names of the values of enumerations, which count from 0."""


def values_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the texts that a parameter can be compared with; empty: any, or none."""
    if parameter.value_type == "const char*":
        return parameter.values
    return _VALUES.get(parameter.value_type, ())


def kind_of(parameter: Parameter) -> str | None:
    """Return the kind of value of a parameter; None if expressions cannot use it."""
    if parameter.allocated_by == "vendor":
        return "slot" if parameter.counted_by in (None, 1) else None
    if parameter.is_tensor_pointer:
        return "tensors" if parameter.counted_by is not None else None
    kind = _KINDS.get(parameter.value_type)
    if parameter.counted_by is not None and kind in (
        "optional_int",
        "optional_double",
        "optional_bool",
    ):
        return None
    if kind == "tensor" and parameter.layout != "strided":
        return None
    return kind


def is_input(parameter: Parameter) -> bool:
    """Return True if the operator may not write the parameter's elements."""
    return parameter.direction == "in"


def required_outputs(operator: Operator) -> tuple[str, ...]:
    """Return the tensors that every case must write."""
    return tuple(
        p.name
        for p in operator.outputs
        if kind_of(p) in ("tensor", "tensors", "slot") and not p.nullable and p.direction == "out"
    )
