"""What a reference is, and how that of an operator is found.

References stand in :mod:`dl_conformance.references`, in modules named for the families of the
schema; a module is imported when the first of its operators is asked for. ``README.md`` says what
they are given and what they return.
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
    """A reference is missing, or did not return what it has to."""


@dataclass(frozen=True)
class Expected:
    """The value of an output, and what the bound of a sum depends on.

    :ivar value: exact in the wide dtype; integers and bools as they are.
    :ivar length: how many terms an element is the sum of: one number, or one for each element.
    :ivar magnitude: the sum of the terms' absolute values, likewise; None: that of the value.
    :ivar roundings: how often inputs or intermediates are rounded to the output's dtype on the way.
    :ivar accumulate: the dtype that sums are computed in, where the contract names another one.
    :ivar op_class: the class of this output, where the formula is a sum of several terms and the
        schema's class knows one; or where an output of sums is only moved.
    :ivar dtype: the dtype of a result that the operator allocates, where the schema leaves it open.
    :ivar either_zero: which elements may be a zero of either sign, where the operator has signs of
        zeros that are compared at all: it chooses among zeros there.
    """

    value: npt.ArrayLike
    length: npt.ArrayLike = 1
    magnitude: npt.ArrayLike | None = None
    roundings: int = 0
    accumulate: str | None = None
    op_class: str | None = None
    dtype: str | None = None
    either_zero: npt.ArrayLike = False


class OutputShape(tuple[int, ...]):
    """The shape of an output that the call decides, for a reference that has such a parameter.

    :ivar dtype: of the output.
    """

    dtype: str

    @classmethod
    def of(cls, sizes: tuple[int, ...], dtype: str) -> OutputShape:
        found = cls(sizes)
        found.dtype = dtype
        return found


class Unspecified:
    """The contents of an output that the contract leaves open: only its shape is compared.

    :ivar shape: for outputs that are made before the call.
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
    """Declare the function that computes these operators.

    :raises BadReferenceError: there is no such operator, or it has a reference.
    """

    def declare(compute: Compute) -> Compute:
        for name in names:
            if name not in load():
                raise BadReferenceError(f"[{name}] is not an operator of the contract")
            if name in _REFERENCES and _REFERENCES[name].__module__ != compute.__module__:
                known = _REFERENCES[name]
                raise BadReferenceError(
                    f"[{name}] has a reference in {known.__module__} and one in "
                    f"{compute.__module__}: keep one of them"
                )
            _REFERENCES[name] = compute
        return compute

    return declare


@cache
def modules() -> tuple[str, ...]:
    """The names of all modules of references."""
    from dl_conformance import references

    return tuple(sorted(x.name for x in pkgutil.iter_modules(references.__path__)))


@cache
def families() -> frozenset[str]:
    """The families of the schema."""
    return frozenset(operator.family for operator in load().values())


def family_of_module(module: str) -> str | None:
    """The family whose operators a module has: the longest one that its name begins with."""
    found = (name for name in families() if f"{module}_".startswith(f"{name}_"))
    return max(found, key=len, default=None)


@cache
def _import_family(family: str) -> None:
    for module in modules():
        if family_of_module(module) == family:
            importlib.import_module(f"dl_conformance.references.{module}")


def find(name: str) -> Compute | None:
    """The reference of an operator, or None if there is none.

    An operator that computes in place has that of the operator which does not.

    :raises BadReferenceError: there is no such operator.
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
    """The reference of the operator that writes elsewhere, with its output in the input's place."""
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
    """What the operator has to write.

    :param arguments: what it reads, by parameter, as in README.md.
    :param outputs: the outputs that the call has; others are left out of the answer.
    :param shapes: those of outputs that the call names, for references that want them.
    :param dtypes: those of the tensors, for references that want them.
    :raises BadReferenceError: there is no reference, or it did not return just the outputs.
    """
    function = find(name)
    if function is None:
        raise BadReferenceError(
            f"[{name}] has no reference: add one to references/{load()[name].family}.py"
        )
    wanted = signature(function).parameters
    # Of an output whose shape the call decides.
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
