"""Fitting of expressions to numbers that were recorded at two tuples of sizes.

Each number is a size in the graph's metadata, a product of two such sizes, or an integer multiple
of either: bytes are multiples of elements, and dl-core merges dimensions. The ratio of the number
at the two tuples identifies the expression. Tuples at which two expressions have the same ratio are
not used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice

from dl_dicp.errors import FixedSizesError
from dl_dicp.recording.shapes import Shapes, Sizes
from dl_graph.expression import Expression, Json, Size, combine, evaluate

PLACES = 8
"""Number of tuples of sizes at which expressions are compared for equality."""

TRIES = 1000
"""Number of tuples to draw; many of them may violate the guards."""

_NO_EXPRESSION = (
    "a number is {} for the first sizes and {} for the second; no expression of sizes gives both"
)


class AmbiguousError(FixedSizesError):
    """Two different expressions have equal values at these sizes."""


@dataclass(frozen=True)
class Term:
    """Expression with its values at both recorded tuples and at sample tuples."""

    expression: Expression
    one: int
    other: int
    elsewhere: tuple[int, ...]

    def is_multiple_of(self, term: Term) -> bool:
        """Return True if the ratio of two terms is the same at all sizes."""
        pairs = zip(self.elsewhere, term.elsewhere, strict=True)
        return all(a * term.one == b * self.one for a, b in pairs)

    def times(self, term: Term) -> Term:
        product = combine("*", self.expression, term.expression)
        assert isinstance(product, Expression)
        elsewhere = tuple(a * b for a, b in zip(self.elsewhere, term.elsewhere, strict=True))
        return Term(product, self.one * term.one, self.other * term.other, elsewhere)


class Fit:
    """Search for the expression of a number.

    :raises AmbiguousError: expressions cannot be distinguished at the two tuples.
    """

    def __init__(self, shapes: Shapes, first: Sizes, second: Sizes) -> None:
        places = list(islice(_places(shapes), PLACES))
        if len(places) < PLACES:
            raise FixedSizesError("too few sizes were found that satisfy the guards of the graph")
        self._exact: dict[tuple[int, int], Term] = {}
        self._terms: dict[Fraction, Term] = {}
        for number in shapes.numbers:
            one, other, *elsewhere = (
                evaluate(number.json, sizes) for sizes in (first, second, *places)
            )
            term = Term(number, one, other, tuple(elsewhere))
            if one == other:
                raise AmbiguousError(f"{number!r} is {one} for both recorded tuples of sizes")
            known = self._exact.setdefault((one, other), term)
            if known.elsewhere != term.elsewhere:
                raise AmbiguousError(f"{number!r} and {known.expression!r} have the same values")
            if one > 0 and other > 0:
                self._add(self._terms, term)

    @staticmethod
    def _add(terms: dict[Fraction, Term], term: Term) -> None:
        ratio = Fraction(term.one, term.other)
        known = terms.setdefault(ratio, term)
        if not known.is_multiple_of(term):
            raise AmbiguousError(
                f"{term.expression!r} and {known.expression!r} have the same ratio"
            )
        if term.one < known.one:
            terms[ratio] = term

    def size(self, one: int, other: int) -> Size:
        """Return the expression with the value ``one`` at the first sizes and ``other`` at the
        second.

        :raises FixedSizesError: no expression has these values.
        """
        if one == other:
            return one
        if (one, other) in self._exact:
            return self._exact[one, other].expression
        if one > 0 and other > 0:
            ratio = Fraction(one, other)
            term = self._terms.get(ratio) or self._products.get(ratio)
            if term is not None and one % term.one == 0:
                return combine("*", term.expression, one // term.one)
        raise FixedSizesError(_NO_EXPRESSION.format(one, other))

    def number(self, one: float, other: float) -> Json | None:
        """Return a quotient of two sizes with these two values; None if the values are equal.

        :raises FixedSizesError: no quotient has these values.
        """
        if one == other or (one != one and other != other):
            return None
        if one.is_integer() and other.is_integer():
            return ["/", _json(self.size(int(one), int(other))), 1]
        if one and other:
            down = round(1 / one), round(1 / other)
            if all(down) and (1 / down[0], 1 / down[1]) == (one, other):
                return ["/", 1, _json(self.size(*down))]
        raise FixedSizesError(_NO_EXPRESSION.format(one, other))

    @cached_property
    def _products(self) -> dict[Fraction, Term]:
        """Return the products of two terms by ratio, without ratios that several products have."""
        terms = list(self._terms.values())
        found: dict[Fraction, Term] = {}
        unclear: set[Fraction] = set()
        for place, term in enumerate(terms):
            for other in terms[place:]:
                product = term.times(other)
                try:
                    self._add(found, product)
                except AmbiguousError:
                    unclear.add(Fraction(product.one, product.other))
        return {ratio: term for ratio, term in found.items() if ratio not in unclear}


def _places(shapes: Shapes) -> Iterator[dict[str, int]]:
    """Yield sizes that satisfy typical guards, such as multiples of powers of 2."""
    numbers = random.Random(0)
    for _ in range(TRIES):
        factor = 1 << max(0, numbers.randint(-6, 6))
        most = 1 << numbers.randint(4, 12)
        sizes = {}
        for symbol in shapes.symbols:
            size = numbers.randint(symbol.least, max(symbol.least, min(symbol.most, most)))
            sizes[symbol.name] = max(symbol.least, size - size % factor)
        if shapes.hold(sizes):
            yield sizes


def _json(size: Size) -> Json:
    return size if isinstance(size, int) else size.json
