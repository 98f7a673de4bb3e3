"""What is wrong with the elements, the dtype, the shape and the strides of an output."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from diopi_proto.schema import Operator
from diopi_proto.tolerance import OpClass, compare

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
"""Operators whose results are rounded and whose zeros have the sign that IEEE 754 gives them; with
exact results all do but those below."""

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
"""Operators with exact results that choose among equals: either zero is right."""


def signed_zeros(operator: Operator, op_class: OpClass) -> bool:
    """Whether zeros of the operator's results have a sign that is theirs."""
    if operator.name in SIGNED_ZEROS:
        return True
    return op_class is OpClass.EXACT and operator.name not in EITHER_ZERO


def class_of(operator: Operator, want: Expected) -> OpClass:
    """The schema's class; where a random operator has a reference, its draws are exact and what it
    does with them is rounded."""
    name = want.op_class or operator.op_class
    return OpClass("rounding" if name == "random" else name)


def judged_number(operator: Operator, got: Any, want: Expected) -> tuple[str, float]:
    """A number in the host's memory: exact, unless the reference names the dtype of its sums."""
    number = np.asarray(want.value).item()
    if want.dtype is None:
        return ("" if got == number else f"got {got}, want {number}"), math.nan
    comparison = compare(
        np.array(got, want.dtype),
        np.asarray(want.value, np.longdouble),
        dtype=want.dtype,
        op_class=class_of(operator, want),
        reduction_length=np.asarray(want.length),
        magnitude=want.magnitude,
    )
    return ("" if comparison.ok else f"got {got}, want {number}"), comparison.ratio


def judged(
    operator: Operator, got: Array, got_dtype: str, dtype: str, want: Expected
) -> tuple[str, float]:
    """What is wrong with one output, nothing if it is right, and its worst element.

    :param got: as the dtype is stored: bfloat16 and complex32 as bits.
    """
    if got_dtype != dtype:
        return f"dtype is {got_dtype}, want {dtype}", math.inf
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
        return "", comparison.ratio
    report = comparison.report("").removeprefix(": ")
    return report, comparison.ratio if not comparison.mismatch else math.inf


def wrong_strides(strides: Shape, shape: Shape, want: Shape | None) -> str:
    """What is wrong with the strides of a tensor that the operator allocated.

    :param want: those that the contract names; None: it is enough that no two elements share
        memory.
    """
    real = [(step, size) for step, size in zip(strides, shape, strict=True) if size > 1]
    if 0 in shape:
        return ""
    if want is not None:
        named = [step for step, size in zip(want, shape, strict=True) if size > 1]
        right = [step for step, _ in real] == named
        return "" if right else f"strides are {strides}, want {want}"
    reach = 1
    for step, size in sorted(real):
        if step < reach:
            return f"strides are {strides} for shape {shape}: elements share memory"
        reach = 1 + step * (size - 1) + reach - 1
    return ""
