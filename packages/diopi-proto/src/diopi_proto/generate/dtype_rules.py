"""Syntax check of dtype rules; schema/README.md documents them."""

from __future__ import annotations

from diopi_proto.schema import Operator, expand_dtypes

_PREFIXES = ("float of ", "real of ", "complex of ", "accumulate ")


def check_rule(rule: str, operator: Operator) -> None:
    """Check a rule.

    :raises ValueError: the rule is invalid or names an unknown parameter of ``operator``.
    """
    for prefix in _PREFIXES:
        if rule.startswith(prefix):
            rest = rule.removeprefix(prefix)
            if not rest.startswith("promote "):
                rest = f"like {rest}"
            return check_rule(rest, operator)
    if rule.startswith(("like ", "promote ")):
        keyword, *names = rule.split()
        if len(names) != (1 if keyword == "like" else 2):
            raise ValueError(f"{keyword} takes {1 if keyword == 'like' else 2} names: {rule!r}")
        known = {p.name for p in operator.params}
        for name in names:
            if name not in known:
                raise ValueError(f"{rule!r} names {name}, which is not a parameter")
        return None
    expand_dtypes(rule, operator.dtypes)
    return None
