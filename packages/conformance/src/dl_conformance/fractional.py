"""Cases with numbers that are not integers, such as 1.25 as `alpha`.

Most calls are for all dtypes of an operator, so their numbers are integers: an implementation that
truncates numbers would compute these calls correctly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from diopi_proto.schema import Operator

from .case import Case, T
from .inputs import FLOATS
from .vocabulary import make

FRACTION = 0.25
"""Added to integers; every floating dtype represents the sums exactly."""
NUMBERS = ("diopiScalar_t", "double", "float")
"""Types of parameters that are numbers, without const and pointer."""
COUNTED: Mapping[str, frozenset[str]] = {"diopiArange": frozenset(("end",))}
"""Parameters that determine sizes of outputs, and that other parameters test with fractions."""


def numbers_of(operator: Operator) -> tuple[str, ...]:
    """Return the parameters of an operator that may be fractional numbers."""
    return tuple(
        p.name
        for p in operator.params
        if p.value_type.removeprefix("const ").removesuffix("*") in NUMBERS
        and p.name not in COUNTED.get(operator.name, ())
    )


def is_integral(value: Any) -> bool:
    """Return True for a number without a fraction."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and isfinite(value)
        and value == int(value)
    )


def untested_numbers(operator: Operator, cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the parameters that are integers in all cases of floating dtypes."""
    values: dict[str, list[Any]] = {name: [] for name in numbers_of(operator)}
    for case in cases:
        if case.dtype in FLOATS and case.refusal is None:
            for name, found in values.items():
                found.append(case.arguments.get(name))
    return tuple(
        name
        for name, found in values.items()
        if any(map(is_integral, found))
        and all(is_integral(x) or not isinstance(x, float) or not isfinite(x) for x in found)
    )


def fractional_cases(operator: Operator, cases: Sequence[Case]) -> Iterator[Case]:
    """Yield a case for each floating dtype, in which all untested numbers have a fraction.

    :param cases: the other cases of the operator; the first one of a dtype is changed.
    """
    names = untested_numbers(operator, cases)
    if not names:
        return
    for dtype in FLOATS:
        first = next((x for x in cases if _is_plain(x, dtype, names)), None)
        if first is None:
            continue
        changed = {name: first.arguments[name] + FRACTION for name in names}
        arguments = {**first.arguments, **changed}
        shown = {n: x for n, x in arguments.items() if n in changed or isinstance(x, T)}
        yield make(operator, dtype, arguments, shown, kind="fractional")


def _is_plain(case: Case, dtype: str, names: Sequence[str]) -> bool:
    """Return True for a contiguous case with random elements that gives all of the numbers."""
    return (
        case.dtype == dtype
        and case.refusal is None
        and case.layout == "contiguous"
        and not case.edge
        and all(is_integral(case.arguments.get(name)) for name in names)
    )
