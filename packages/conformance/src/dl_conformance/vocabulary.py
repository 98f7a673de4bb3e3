"""Vocabulary for cases: combinations of calls, dtypes, layouts and edge values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from diopi_proto.schema import Operator, Parameter, load

from .case import Case, Refusal, T
from .dtype_rules import main_dtypes, resolve, with_promotion
from .layouts import LAYOUTS, applies

__all__ = ["Calls", "Refused", "T", "calls", "refused"]

BY_TYPE: Mapping[str, Any] = {
    "bool": False,
    "int64_t": 1,
    "int32_t": 1,
    "double": 0.5,
    "float": 0.5,
    "diopiScalar_t": 2,
    "diopiReduction_t": "mean",
    "diopiRoundMode_t": "floor",
}
"""Default values of parameters that a call does not name, by type."""


@dataclass(frozen=True)
class Calls:
    """Specification of valid calls; see :func:`calls`."""

    operators: tuple[str, ...]
    each: tuple[Mapping[str, Any], ...]
    dtypes: tuple[str, ...] | None
    layouts: tuple[str, ...]
    edges: str

    def cases(self) -> Iterator[Case]:
        for name in self.operators:
            operator = load()[name]
            for dtype in self.dtypes or main_dtypes(operator):
                if dtype in main_dtypes(operator):
                    yield from self._cases_of(operator, dtype)

    def _cases_of(self, operator: Operator, dtype: str) -> Iterator[Case]:
        for at, call in enumerate(self.each):
            arguments = complete(operator, call)
            yield make(operator, dtype, arguments, call)
            if at:
                continue
            shapes = [x.sizes for x in tensors(arguments) if not x.plain]
            for layout in self.layouts:
                if layout != "contiguous" and any(applies(layout, x) for x in shapes):
                    yield make(operator, dtype, arguments, call, layout=layout)
            if self.edges:
                yield make(operator, dtype, arguments, call, edge=self.edges)


def calls(
    operators: str,
    *each: Mapping[str, Any],
    dtypes: str | None = None,
    layouts: Iterable[str] = LAYOUTS,
    edges: str = "",
) -> Calls:
    """Specify every call for every operator and dtype; the first call also in all layouts.

    :param operators: names without ``diopi``, separated by spaces.
    :param each: arguments by parameter: for a tensor, its shape, a :class:`T` or None. Outputs are
        allocated as the reference specifies; None omits an output, a :class:`T` sets its dtype.
    :param dtypes: dtypes separated by spaces; None: those of the schema.
    :param edges: ``"extreme"``: also run the first call with NaN, infinities, zeros, denormals and
        the largest numbers; ``"special"``: without the largest numbers, whose sums overflow.
    """
    names = (x if x.startswith("dlop") else f"diopi{x}" for x in operators.split())
    chosen = None if dtypes is None else tuple(dtypes.split())
    return Calls(tuple(names), each, chosen, tuple(layouts), edges)


@dataclass(frozen=True)
class Refused:
    """Specification of calls that must be refused; see :func:`refused`."""

    operators: tuple[str, ...]
    call: Mapping[str, Any]
    wrong: tuple[Mapping[str, Any], ...]
    data: tuple[Mapping[str, Any], ...]
    dtype: str

    def cases(self) -> Iterator[Case]:
        for name in self.operators:
            operator = load()[name]
            allowed = main_dtypes(operator)
            dtype = self.dtype if self.dtype in allowed else allowed[0]
            arguments = complete(operator, self.call)
            for change in (*self.wrong, *self.data):
                words = "refused-" + " ".join(_describe_change(n, x) for n, x in change.items())
                right = make(operator, dtype, arguments, {}, kind=words)
                changed = {n: _argument(operator.parameter(n), x) for n, x in change.items()}
                in_data = any(change is x for x in self.data)
                yield replace(right, refusal=Refusal(changed, in_data))


def refused(
    operators: str,
    call: Mapping[str, Any],
    *wrong: Mapping[str, Any],
    data: Iterable[Mapping[str, Any]] = (),
    dtype: str = "float32",
) -> Refused:
    """Specify calls that every operator must refuse: a valid call with invalid changes.

    :param operators: names, as in :func:`calls`.
    :param call: the valid call, which the operator must compute.
    :param wrong: changed arguments by parameter; unchanged outputs are those of the valid call.
    :param data: the same for changes that make elements invalid instead of arguments.
    :param dtype: dtype of the call; the first one of the schema if the operator does not have it.
    """
    names = (x if x.startswith("dlop") else f"diopi{x}" for x in operators.split())
    return Refused(tuple(names), call, wrong, tuple(data), dtype)


def _describe_change(name: str, value: Any) -> str:
    """Return the text that describes a changed argument in a case's name."""
    if isinstance(value, T) and value.values is not None:
        listed = "_".join(map(str, _flat(value.values)[:6]))
        return f"{name} {described(name, replace(value, values=None))} of {listed}"
    if isinstance(value, (str, T, list)) and not _is_sizes(value):
        return f"{name} {value if isinstance(value, str) else described(name, value)}"
    return described(name, tuple(value) if isinstance(value, list) else value)


def _is_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, int) for x in value)


def is_output(parameter: Parameter) -> bool:
    """Return True if a parameter is only written."""
    return parameter.direction == "out"


def complete(operator: Operator, call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, with defaults for those that it does not name.

    Names that the operator does not have are ignored: they are for other operators of the calls.
    """
    arguments: dict[str, Any] = {}
    for parameter in operator.params[1:]:
        name = parameter.name
        if operator.count_of(name):
            continue
        if is_output(parameter):
            if name in call:
                arguments[name] = _argument(parameter, call[name])
        elif name in call:
            arguments[name] = _argument(parameter, call[name])
        else:
            arguments[name] = _default(operator, parameter)
    return arguments


def _argument(parameter: Parameter, value: Any) -> Any:
    if parameter.is_tensor and isinstance(value, str):
        return T(value)
    if parameter.type.endswith("Handle_t*") and isinstance(value, list):
        return [T(x) if isinstance(x, str) else x for x in value]
    return tuple(value) if isinstance(value, list) else value


def _default(operator: Operator, parameter: Parameter) -> Any:
    if parameter.nullable:
        return None
    if parameter.is_tensor or parameter.is_tensor_pointer:
        raise ValueError(f"[{operator.name}] a case must name {parameter.name}")
    if parameter.type.startswith("diopiGeneratorHandle_t"):
        return (5, 0)
    if parameter.values:
        return parameter.values[0]
    kind = parameter.value_type.removeprefix("const ").removesuffix("*")
    if kind not in BY_TYPE:
        raise ValueError(f"[{operator.name}] a case must name {parameter.name}")
    return BY_TYPE[kind]


def tensors(arguments: Mapping[str, Any]) -> Iterator[T]:
    """Yield all tensors among the arguments, including those in lists."""
    for value in arguments.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, T):
                yield each


def make(
    operator: Operator,
    dtype: str,
    arguments: Mapping[str, Any],
    call: Mapping[str, Any],
    layout: str = "contiguous",
    edge: str = "",
    kind: str = "",
) -> Case:
    """Create a case with its name.

    :param kind: word that distinguishes this kind of case in the name.
    """
    given = {n: v.dtype for n, v in arguments.items() if isinstance(v, T) and v.dtype}
    dtypes = with_promotion(operator, arguments, resolve(operator, dtype, given))
    named = [p.name for p in operator.params if not is_output(p)]
    placed = layout if layout != "contiguous" else ""
    parts = [dtype, kind, placed, f"{edge} values" if edge else ""]
    shown = (described(name, arguments[name]) for name in named if name in call)
    absent = (f"no {n}" for n, v in arguments.items() if v is None and n in call and n not in named)
    words = [x for x in (*parts, *shown, *absent) if x]
    text = "-".join(words)
    return Case(f"{operator.name}[{text}]", operator.name, dtype, layout, edge, arguments, dtypes)


def described(name: str, value: Any) -> str:
    """Return the text that describes an argument in a case's name."""
    if isinstance(value, T) and value.saved_by:
        return ""
    if isinstance(value, T):
        shape = "x".join(map(str, value.sizes)) or "scalar"
        if value.csr:
            shape = f"{shape} csr {value.csr}"
        if value.values is not None and len(value.sizes) <= 1:
            shape = f"{name}={'_'.join(map(str, _flat(value.values)[:6]))}"
        return f"{shape} {value.dtype}" if value.dtype else shape
    if isinstance(value, list):
        return "+".join(described(name, x) if x is not None else "none" for x in value)
    if value is None:
        return f"no {name}"
    if isinstance(value, tuple):
        return f"{name}={'_'.join(map(str, value)) or 'empty'}"
    return f"{name}={value}"


def _flat(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
