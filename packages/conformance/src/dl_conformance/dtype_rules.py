"""The dtype of every tensor of a call, from the rules of the schema."""

from __future__ import annotations

from collections.abc import Mapping

from diopi_proto.schema import Operator, expand_dtypes

from .inputs import COMPLEX, FLOATS

REAL_OF = {"complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {real: wide for wide, real in REAL_OF.items()}


def main_dtypes(operator: Operator) -> tuple[str, ...]:
    """The dtypes that the tensors of the operator share."""
    return expand_dtypes(operator.dtypes)


def resolve(operator: Operator, main: str, given: Mapping[str, str]) -> dict[str, str]:
    """The dtype of every tensor parameter, those first on which others depend.

    :param main: what a rule that leaves a choice gives, where it allows it.
    :param given: those that the call names.
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
    """What one rule gives."""
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
