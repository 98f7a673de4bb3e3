"""Rules of an adaptor file: one for each tensor parameter that it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..schema import Operator, Parameter, expand_dtypes, load

LAYOUTS = ("any", "contiguous", "channels_last")
BASIC = ("diopiCastDtype", "diopiCopyInp")
"""Operators that perform conversions; they are never adapted themselves."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "integers": ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"),
    "floating-point numbers": ("float16", "bfloat16", "float32", "float64"),
    "complex numbers": ("complex32", "complex64", "complex128"),
}


@dataclass(frozen=True)
class Rule:
    """Conversions of one tensor parameter of one operator.

    :ivar cast: target dtype by source dtype.
    :ivar layout: one of :data:`LAYOUTS`.
    :ivar wrap: True if integer results that do not fit wrap around.
    """

    operator: str
    parameter: str
    cast: Mapping[str, str]
    layout: str
    wrap: bool


@dataclass(frozen=True)
class AdaptorFile:
    """A parsed and validated adaptor file.

    :ivar rules: rules by operator and parameter, in the order of the schema.
    :ivar vendor_checks: True if the library's diopiCastDtype reports values that do not fit.
    """

    path: Path
    rules: Mapping[str, Mapping[str, Rule]]
    vendor_checks: bool = False

    def computed_in(self, operator: str, parameter: str, dtype: str) -> str:
        """Return the dtype to which a tensor of ``dtype`` is cast for the vendor's operator."""
        rule = self.rules.get(operator, {}).get(parameter)
        return dtype if rule is None else rule.cast.get(dtype, dtype)

    def summary(self) -> str:
        """Summarize casts, layouts and the number of operators in one line, for reports."""
        casts = dict.fromkeys(
            f"{source}→{target}"
            for rules in self.rules.values()
            for rule in rules.values()
            for source, target in rule.cast.items()
        )
        layouts = dict.fromkeys(
            rule.layout
            for rules in self.rules.values()
            for rule in rules.values()
            if rule.layout != "any"
        )
        return f"{', '.join([*casts, *layouts])} for {len(self.rules)} operators"


def tensors_of(operator: Operator) -> list[Parameter]:
    """Return the parameters to which a rule can apply."""
    return [
        p for p in operator.params if (p.is_tensor and p.layout == "strided") or p.is_tensor_pointer
    ]


def possible_dtypes(operator: Operator, parameter: Parameter) -> frozenset[str]:
    """Return the dtypes that the contract allows for a parameter."""
    rule = parameter.dtype or "any"
    head, _, rest = rule.partition(" ")
    if head == "like":
        return possible_dtypes(operator, operator.parameter(rest))
    if head in ("promote", "accumulate") or rest.startswith("of "):
        return frozenset(d for kind in KINDS.values() for d in kind)
    return frozenset(expand_dtypes(rule, operator.dtypes))


def adaptable_operators() -> list[str]:
    """Return the operators to which rules can apply."""
    return [n for n, operator in load().items() if n not in BASIC and tensors_of(operator)]
