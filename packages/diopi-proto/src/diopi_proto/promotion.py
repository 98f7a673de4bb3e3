"""Type promotion: the operands that take part in it, and their common dtype.

The dtype rules of the schema determine which operands an operator converts to a common dtype;
PyTorch's documented rules of type promotion determine that dtype.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .dtypes import DTYPES
from .schema import Operator, Parameter, expand_dtypes, load

__all__ = ["Operand", "Promotion", "category", "promote_types", "promotion", "result_type"]

_SCALAR = "const diopiScalar_t*"
_TENSORS = ("diopiTensorHandle_t", "diopiConstTensorHandle_t")
_ELEMENTWISE = ("exact", "rounding", "elementary")
_FREE = ("any", None)
_FLOATS = expand_dtypes("float")
_COMPLEX_OF = {"float16": "complex32", "float64": "complex128"}

Operand = tuple[str, int]
"""A dtype, and a rank: 0 for tensors with dimensions, 1 for those without, 2 for scalars."""


@dataclass(frozen=True)
class Promotion:
    """Type promotion of one operator.

    :ivar operands: parameters that take part.
    :ivar result: parameter with the result; for in-place operators it is an operand too.
    :ivar kind: ``common``: the result has the common dtype. ``converted``: it is converted from the
        common dtype to its own, whose category is at least as high. ``boolean``: 0 or 1 in its own
        dtype.
    :ivar floating: integer operands are converted to float32.
    """

    operands: tuple[str, ...]
    result: str
    kind: Literal["common", "converted", "boolean"]
    floating: bool = False

    def common(self, operands: Iterable[Operand]) -> str | None:
        """Return the common dtype of the operands, or None if there is none."""
        dtype = result_type(operands)
        return "float32" if self.floating and dtype is not None and category(dtype) < 2 else dtype


def promotion(name: str) -> Promotion | None:
    """Return the promotion rule of an operator, or None if it does not promote its operands."""
    operator = load()[name]
    if operator.op_class not in _ELEMENTWISE:
        return None
    parameters = operator.params[1:]
    outputs = [x for x in parameters if x.type in _TENSORS and x.direction != "in"]
    if len(outputs) != 1 or any("HandleArray" in x.type for x in parameters):
        return None
    (out,) = outputs
    if out.direction == "inout":
        return _in_place(operator, parameters, out)
    return _functional(parameters, out)


def _functional(parameters: tuple[Parameter, ...], out: Parameter) -> Promotion | None:
    rule = out.dtype or ""
    if rule.startswith("promote "):
        return _rule(parameters, rule.split()[1:], out, "common")
    if rule.startswith("float of "):
        return _rule(parameters, rule.split()[2:], out, "common", floating=True)
    operands = [x.name for x in parameters if x.direction == "in" and _takes_part(x)]
    free = any(x.name in operands and x.dtype == "any" for x in parameters)
    if not free or len(operands) < 2:
        return None
    if rule == "any":
        return _rule(parameters, operands, out, "converted")
    return _rule(parameters, operands, out, "boolean") if "bool" in rule else None


def _in_place(
    operator: Operator, parameters: tuple[Parameter, ...], out: Parameter
) -> Promotion | None:
    operands = [x.name for x in parameters if x.direction == "in" and x.dtype == "any"]
    if not operands or operator.in_place_of is None:
        return None
    (separate,) = (x.dtype or "" for x in load()[operator.in_place_of].outputs)
    if "bool" in separate:
        return _rule(parameters, [out.name, *operands], out, "boolean")
    if separate == "any" or separate.startswith("promote "):
        return _rule(parameters, [out.name, *operands], out, "converted")
    return None


def _takes_part(parameter: Parameter) -> bool:
    return parameter.type == _SCALAR or (parameter.type in _TENSORS and parameter.dtype in _FREE)


def _rule(
    parameters: tuple[Parameter, ...],
    operands: list[str],
    out: Parameter,
    kind: Literal["common", "converted", "boolean"],
    *,
    floating: bool = False,
) -> Promotion:
    taking = tuple(x.name for x in parameters if x.name in operands)
    return Promotion(taking, out.name, kind, floating)


def category(dtype: str) -> int:
    """Return 0 for bool, 1 for integers, 2 for floating-point and 3 for complex dtypes."""
    if dtype.startswith("complex"):
        return 3
    return 2 if dtype in _FLOATS else int(dtype != "bool")


def promote_types(a: str, b: str) -> str | None:
    """Return the promoted dtype of two dtypes, or None if PyTorch does not define one."""
    if a == b:
        return a
    high, low = (a, b) if category(a) >= category(b) else (b, a)
    wide = "float64" in (a, b)
    if category(high) == 3:
        return "complex128" if wide or "complex128" in (a, b) else "complex64"
    if category(high) == 2:
        if category(low) != 2:
            return high
        return "float64" if wide else "float32"  # also for float16 with bfloat16
    if low == "bool":
        return high
    larger = high if DTYPES[high].itemsize > DTYPES[low].itemsize else low
    if high.startswith("u") == low.startswith("u"):
        return larger
    signed, unsigned = (low, high) if high.startswith("u") else (high, low)
    if unsigned != "uint8":
        return None
    return "int16" if signed == "int8" else signed


def result_type(operands: Iterable[Operand]) -> str | None:
    """Return the dtype of PyTorch's ``torch.result_type`` for operands, or None if there is none.

    Operands of a higher rank matter only if their category is higher; a complex scalar keeps the
    precision of a floating-point tensor. A scalar has the default dtype of its category: bool,
    int64 or float32.
    """
    ranks: dict[int, str] = {}
    for dtype, rank in operands:
        both = promote_types(ranks.get(rank, dtype), dtype)
        if both is None:
            return None
        ranks[rank] = both
    found: str | None = None
    for rank in sorted(ranks, reverse=True):
        found = ranks[rank] if found is None else _combined(ranks[rank], found)
        if found is None:
            return None
    return found


def _combined(higher: str, lower: str) -> str | None:
    """Return the dtype of operands of two ranks."""
    if category(higher) >= category(lower) and higher != "bool":
        return higher
    if (category(higher), category(lower)) == (2, 3):
        return _COMPLEX_OF.get(higher, "complex64")
    return promote_types(higher, lower)
