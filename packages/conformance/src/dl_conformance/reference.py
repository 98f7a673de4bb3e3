"""Registry of references, and the values that they return.

References are defined in :mod:`dl_conformance.references`, in modules named after the families of
the schema; a module is imported when the first of its operators is looked up. ``docs/cases.md``
documents their arguments and results.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from diopi_proto.schema import Operator, load

Array = npt.NDArray[Any]
Compute = Callable[..., Mapping[str, Any]]


class BadReferenceError(Exception):
    """A reference is missing, or its result does not have the required outputs."""


@dataclass(frozen=True)
class Expected:
    """Expected value of an output, with the quantities that determine its error bound.

    :ivar value: exact values in the wide dtype; integers and bools unchanged.
    :ivar length: number of summed terms, for all elements or for each.
    :ivar magnitude: sum of the terms' absolute values, for all elements or for each; None:
        absolute values of ``value``.
    :ivar roundings: number of times that inputs or intermediates are rounded to the output's dtype.
    :ivar accumulate: dtype of the accumulator, if the contract specifies a different dtype for it.
    :ivar op_class: tolerance class of this output, if it differs from the one in the schema: the
        formula sums several terms, or an output of a summing operator is only moved.
    :ivar dtype: dtype of a result that the operator allocates, if the schema leaves it open.
    :ivar either_zero: mask of elements that may be a zero of either sign, if the signs of zeros
        are compared.
    """

    value: npt.ArrayLike
    length: npt.ArrayLike = 1
    magnitude: npt.ArrayLike | None = None
    roundings: int = 0
    accumulate: str | None = None
    op_class: str | None = None
    dtype: str | None = None
    either_zero: npt.ArrayLike = False


def as_expected(value: Any) -> Expected:
    """Wrap the value of an output unless the reference did."""
    return value if isinstance(value, Expected) else Expected(value)


class OutputShape(tuple[int, ...]):
    """Shape of an output that the call determines, for references with such a parameter.

    :ivar dtype: dtype of the output.
    """

    dtype: str

    @classmethod
    def of(cls, sizes: tuple[int, ...], dtype: str) -> OutputShape:
        found = cls(sizes)
        found.dtype = dtype
        return found


class Unspecified:
    """Output with contents that the contract leaves open: only its shape is compared.

    :ivar shape: shape of outputs that the caller allocates.
    """

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.shape = shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.zeros(self.shape, dtype)

    def __repr__(self) -> str:
        return "UNSPECIFIED"


UNSPECIFIED = Unspecified()

_REFERENCES: dict[str, Compute] = {}


def reference(*names: str) -> Callable[[Compute], Compute]:
    """Register the function that computes these operators.

    :raises BadReferenceError: an operator is unknown, or already has a reference.
    """

    def declare(compute: Compute) -> Compute:
        for name in names:
            if name not in load():
                raise BadReferenceError(f"[{name}] is not an operator of the contract")
            if name in _REFERENCES and _REFERENCES[name].__module__ != compute.__module__:
                known = _REFERENCES[name]
                raise BadReferenceError(
                    f"[{name}] has references in both {known.__module__} and "
                    f"{compute.__module__}: keep only one"
                )
            _REFERENCES[name] = compute
        return compute

    return declare


@cache
def modules() -> tuple[str, ...]:
    """Return the names of all modules of references."""
    from dl_conformance import references

    return tuple(sorted(x.name for x in pkgutil.iter_modules(references.__path__)))


@cache
def families() -> frozenset[str]:
    """Return the families of the schema."""
    return frozenset(operator.family for operator in load().values())


def family_of_module(module: str) -> str | None:
    """Return the family of a module: the longest one that is a prefix of its name."""
    found = (name for name in families() if f"{module}_".startswith(f"{name}_"))
    return max(found, key=len, default=None)


@cache
def _import_family(family: str) -> None:
    for module in modules():
        if family_of_module(module) == family:
            importlib.import_module(f"dl_conformance.references.{module}")


def find(name: str) -> Compute | None:
    """Return the reference of an operator, or None.

    An in-place operator uses the reference of its out-of-place form.

    :raises BadReferenceError: the operator is unknown.
    """
    if name not in load():
        raise BadReferenceError(f"[{name}] is not an operator of the contract")
    operator = load()[name]
    _import_family(operator.family)
    found = _REFERENCES.get(name)
    if found is None and operator.in_place_of is not None:
        return _in_place(operator, load()[operator.in_place_of])
    return found


def _in_place(operator: Operator, base: Operator) -> Compute | None:
    """Return the reference of the out-of-place form, with its output renamed to the input."""
    compute = find(base.name)
    written, outputs = operator.outputs[0].name, [p.name for p in base.outputs]
    first = next((p.name for p in base.params if p.direction == "in" and p.name != "ctx"), "")
    if compute is None:
        return None

    def computed(**arguments: Any) -> Mapping[str, Any]:
        found = dict(compute(**{first if n == written else n: v for n, v in arguments.items()}))
        return {written if n == outputs[0] else n: v for n, v in found.items()}

    return computed


def compute(
    name: str,
    arguments: Mapping[str, Any],
    outputs: set[str],
    shapes: Mapping[str, OutputShape] = MappingProxyType({}),
    dtypes: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the expected outputs of an operator.

    :param arguments: inputs by parameter, as described in docs/cases.md.
    :param outputs: outputs that the call has; others are dropped.
    :param shapes: shapes of outputs that the call specifies, for references that take them.
    :param dtypes: dtypes of the tensors, for references that take them.
    :raises BadReferenceError: there is no reference, or its outputs are missing or unknown.
    """
    function = find(name)
    if function is None:
        raise BadReferenceError(
            f"[{name}] has no reference: add one to references/{load()[name].family}.py"
        )
    wanted = signature(function).parameters
    # Shapes of outputs that the call determines.
    extra: dict[str, Any] = {k: v for k, v in shapes.items() if k in wanted}
    if "dtypes" in wanted:
        extra["dtypes"] = dtypes
    with np.errstate(all="ignore"):
        found = {k: v for k, v in function(**arguments, **extra).items() if v is not None}
    allowed = {parameter.name for parameter in load()[name].outputs}
    missing, unknown = outputs - found.keys(), found.keys() - allowed
    if missing or unknown:
        raise BadReferenceError(
            f"[{name}] reference returned {sorted(found)}, want {sorted(outputs)}: "
            f"missing {sorted(missing)}, unknown {sorted(unknown)}"
        )
    return {key: value for key, value in found.items() if key in outputs}
