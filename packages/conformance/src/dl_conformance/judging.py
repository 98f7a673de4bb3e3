"""Comparison of the elements, dtype, shape and strides of an output with the reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from diopi_proto.schema import Operator
from diopi_proto.tolerance import OpClass, compare

from .fault import Fault, FaultKind, wrong_value
from .inputs import COMPLEX, FLOATS, Array, exact
from .reference import Expected

Shape = tuple[int, ...]

SIGNED_ZEROS = frozenset(
    f"diopi{name}{form}"
    for name in (
        *("Sqrt", "Sin", "Tan", "Asin", "Atan", "Sinh", "Tanh", "Asinh", "Atanh"),
        *("Expm1", "Log1p", "Erf", "Mul", "Div"),
    )
    for form in ("", "Inp")
) | {f"diopi{name}{form}Scalar" for name in ("Mul", "Div") for form in ("", "Inp")}
"""Operators with rounded results whose zeros have the sign that IEEE 754 specifies. Of operators
with exact results, all but those below have signed zeros."""

EITHER_ZERO = frozenset(
    f"diopi{name}"
    for name in (
        *("Max", "Min", "MaxAll", "MinAll", "Amax", "Maximum", "Minimum", "Sort", "Topk"),
        *(
            f"{kind}Pool{n}d{more}"
            for kind in ("Max", "AdaptiveMax")
            for n in (1, 2, 3)
            for more in ("", "WithIndices")
        ),
        "RoiPoolMmcv",
    )
)
"""Operators with exact results that select among equal elements: a zero of either sign is right."""


def signed_zeros(operator: Operator, op_class: OpClass) -> bool:
    """Return True if the sign of zeros in the operator's results is compared."""
    if operator.name in SIGNED_ZEROS:
        return True
    return op_class is OpClass.EXACT and operator.name not in EITHER_ZERO


def class_of(operator: Operator, want: Expected) -> OpClass:
    """Return the tolerance class of an output.

    A random operator with a reference draws exact numbers and rounds what it computes from them.
    """
    name = want.op_class or operator.op_class
    return OpClass("rounding" if name == "random" else name)


def compare_scalar(operator: Operator, got: Any, want: Expected) -> tuple[Fault | None, float]:
    """Compare a host scalar: exactly, unless the reference names the dtype of its sums."""
    number = np.asarray(want.value).item()
    if want.dtype is None:
        return (None if got == number else wrong_value(f"got {got}, want {number}")), math.nan
    comparison = compare(
        np.array(got, want.dtype),
        np.asarray(want.value, np.longdouble),
        dtype=want.dtype,
        op_class=class_of(operator, want),
        reduction_length=np.asarray(want.length),
        magnitude=want.magnitude,
    )
    fault = None if comparison.ok else wrong_value(f"got {got}, want {number}")
    return fault, comparison.ratio


def compare_tensor(
    operator: Operator, got: Array, got_dtype: str, dtype: str, want: Expected
) -> tuple[Fault | None, float]:
    """Compare one output with the reference; return its fault and the error of the worst element.

    :param got: elements in the storage format of the dtype: bfloat16 and complex32 as bits.
    """
    if got_dtype != dtype:
        return Fault(FaultKind.DTYPE, f"dtype is {got_dtype}, want {dtype}"), math.inf
    value = np.asarray(want.value)
    if dtype in FLOATS:
        value = value.astype(np.longdouble)
    elif dtype in COMPLEX or dtype == "complex32":
        value = value.astype(np.clongdouble)
        got = exact(got, dtype).astype(np.complex64) if dtype == "complex32" else got
    elif dtype == "bool":
        value = value.astype(bool)
    elif value.dtype.kind != "u" or value.dtype.name != "uint64":
        value = value.astype(dtype)
    op_class = class_of(operator, want)
    if dtype in FLOATS and np.any(want.either_zero) and got.shape == value.shape:
        negative = np.signbit(got) if dtype != "bfloat16" else got >> 15 != 0
        as_got = np.where(negative, -0.0, 0.0).astype(value.dtype)
        value = np.where(np.asarray(want.either_zero) & (value == 0), as_got, value)
    comparison = compare(
        got,
        value,
        dtype=dtype,
        op_class=op_class,
        reduction_length=np.asarray(want.length),
        magnitude=want.magnitude,
        accumulate=want.accumulate,
        roundings=want.roundings,
        signed_zeros=signed_zeros(operator, op_class),
    )
    if comparison.ok:
        return None, comparison.ratio
    report = comparison.report("").removeprefix(": ")
    if comparison.mismatch:
        return Fault(FaultKind(comparison.mismatch), report), math.inf
    return wrong_value(report), comparison.ratio


def check_strides(strides: Shape, shape: Shape, want: Shape | None) -> Fault | None:
    """Return the fault of the strides of a tensor that the operator allocated.

    :param want: strides that the contract specifies; None: any strides without overlap.
    """
    real = [(step, size) for step, size in zip(strides, shape, strict=True) if size > 1]
    if 0 in shape:
        return None
    if want is not None:
        named = [step for step, size in zip(want, shape, strict=True) if size > 1]
        right = [step for step, _ in real] == named
        message = f"strides are {strides}, want {want}"
        return None if right else Fault(FaultKind.STRIDES, message)
    reach = 1
    for step, size in sorted(real):
        if step < reach:
            message = f"strides are {strides} for shape {shape}: elements share memory"
            return Fault(FaultKind.STRIDES, message)
        reach = 1 + step * (size - 1) + reach - 1
    return None
