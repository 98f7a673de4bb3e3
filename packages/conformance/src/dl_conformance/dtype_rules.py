"""Resolution of the dtypes of a call's tensors from the rules of the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diopi_proto.promotion import Operand, Promotion, promotion
from diopi_proto.schema import Operator, expand_dtypes

from .case import T
from .inputs import COMPLEX, FLOATS

REAL_OF = {"complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {"float16": "complex32", **{real: wide for wide, real in REAL_OF.items()}}


def main_dtypes(operator: Operator) -> tuple[str, ...]:
    """Return the dtypes that the tensors of the operator share."""
    return expand_dtypes(operator.dtypes)


def resolve(operator: Operator, main: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the dtype of every tensor parameter, resolving dependencies first.

    :param main: preferred dtype where a rule allows several.
    :param given: dtypes that the call specifies.
    """
    waiting = {p.name: p.dtype for p in operator.params if p.dtype and p.name not in given}
    known = dict(given)
    while waiting:
        ready = {n: r for n, r in waiting.items() if not any(w in r.split() for w in waiting)}
        for name, rule in ready.items():
            known[name] = by_rule(rule, operator, known, main)
            del waiting[name]
    return known


def by_rule(rule: str, operator: Operator, known: Mapping[str, str], main: str) -> str:
    """Return the dtype that one rule determines."""
    head, _, rest = rule.partition(" ")
    if head in ("float", "real", "complex") and rest.startswith("of "):
        dtype = _of(rest[3:], operator, known, main)
        if head == "float":
            return dtype if dtype in FLOATS + COMPLEX else "float32"
        return (REAL_OF if head == "real" else COMPLEX_OF).get(dtype, dtype)
    if head == "accumulate":
        dtype = _of(rest, operator, known, main)
        return "float32" if dtype in ("float16", "bfloat16") else dtype
    if head == "like":
        return known[rest]
    if head == "promote":
        return main
    allowed = expand_dtypes(rule, operator.dtypes)
    return main if main in allowed else allowed[0]


def _of(rest: str, operator: Operator, known: Mapping[str, str], main: str) -> str:
    text = rest if rest.startswith("promote ") else f"like {rest}"
    return by_rule(text, operator, known, main)


def common_dtype(
    rule: Promotion, arguments: Mapping[str, Any], dtypes: Mapping[str, str]
) -> str | None:
    """Return the dtype to which the operands of a call are promoted."""
    operands: list[Operand] = []
    for name in rule.operands:
        value = arguments.get(name)
        if isinstance(value, T):
            operands.append((value.dtype or dtypes[name], 0 if value.sizes else 1))
        elif value is not None:
            whole = "bool" if isinstance(value, bool) else "int64"
            operands.append(("float32" if isinstance(value, float) else whole, 2))
    return rule.common(operands)


def with_promotion(
    operator: Operator, arguments: Mapping[str, Any], dtypes: Mapping[str, str]
) -> dict[str, str]:
    """Return the dtypes of a call's tensors, with the promoted dtype for the result."""
    rule, found = promotion(operator.name), dict(dtypes)
    if rule is not None and rule.kind == "common" and rule.result not in arguments:
        found[rule.result] = common_dtype(rule, arguments, dtypes) or found[rule.result]
    return found
