"""Proof that two sizes are equal for all values of their symbols, by algebra.

A size is converted to a normal form: a sum of products. The factors are symbols, and quotients and
maxima that cannot be expanded, whose operands are in normal form. Equal normal forms imply equal
sizes. Sizes with different normal forms may still be equal: such cases are avoided, or checked in
each run.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from dl_graph.expression import Json, Size, as_json

Product = tuple[str, ...]
"""Sorted factors with repetition."""

Sum = dict[Product, int]
"""Nonzero coefficient of each product."""

ONE: Product = ()
"""The empty product."""


def same(one: Size, other: Size) -> bool:
    """Return True if two sizes are proven to be equal."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    return one == other or _form(one) == _form(other)


@lru_cache(maxsize=4096)
def _form(size: Size) -> Sum:
    return _of(as_json(size))


def _of(json: Json) -> Sum:
    if isinstance(json, str):
        return {(json,): 1}
    if not isinstance(json, list):
        return {ONE: json} if json else {}
    sign, one, other = json[0], _of(json[1]), _of(json[2])
    if sign in ("+", "-"):
        return _plus(one, other, 1 if sign == "+" else -1)
    if sign == "*":
        return _times(one, other)
    if sign == "//":
        return _quotient(one, other)
    if sign == "%":  # remainder of a // b
        return _plus(one, _times(other, _quotient(one, other)), -1)
    apart = _plus(one, other, -1)
    if apart.keys() <= {ONE}:
        first = (apart.get(ONE, 0) >= 0) == (sign == "max")
        return one if first else other
    sides = sorted((_text(one), _text(other)))
    return {(f"{sign}({', '.join(sides)})",): 1}


def _plus(one: Sum, other: Sum, factor: int) -> Sum:
    out = dict(one)
    for product, count in other.items():
        out[product] = out.get(product, 0) + factor * count
    return {product: count for product, count in out.items() if count}


def _times(one: Sum, other: Sum) -> Sum:
    out: Sum = {}
    for a, m in one.items():
        for b, n in other.items():
            product = tuple(sorted(a + b))
            out[product] = out.get(product, 0) + m * n
    return {product: count for product, count in out.items() if count}


def _quotient(one: Sum, other: Sum) -> Sum:
    """Simplify ``(q * b + r) // b`` to ``q + r // b``, which holds for all integers."""
    whole: Sum = {}
    rest, left = dict(one), dict(one)
    while left and other:
        leading = max(left, key=_order)
        ratio = _ratio(leading, left[leading], other)
        if ratio is None:
            del left[leading]
            continue
        whole = _plus(whole, ratio, 1)
        taken = _times(ratio, other)
        rest, left = _plus(rest, taken, -1), _plus(left, taken, -1)
    if rest.keys() <= {ONE} and other.keys() == {ONE}:
        return _plus(whole, {ONE: rest.get(ONE, 0) // other[ONE]}, 1)
    if not rest:
        return whole
    return _plus(whole, {(f"({_text(rest)} // {_text(other)})",): 1}, 1)


def _ratio(product: Product, count: int, by: Sum) -> Sum | None:
    """Return the factor by which a sum's leading product becomes this product, or None."""
    leading = max(by, key=_order)
    missing = Counter(leading)
    missing.subtract(product)
    if count % by[leading] or any(times > 0 for times in missing.values()):
        return None
    return {tuple(sorted((-missing).elements())): count // by[leading]}


def _order(product: Product) -> tuple[int, Product]:
    """Return a key that orders products and is compatible with multiplication."""
    return len(product), product


def _text(form: Sum) -> str:
    return " + ".join(f"{count}*{'*'.join(product)}" for product, count in sorted(form.items()))
