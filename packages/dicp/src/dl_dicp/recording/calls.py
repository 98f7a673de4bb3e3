"""Conversion of recorded calls of the vendor's operators to calls of a contract graph.

There is no other lowering: an ATen operator becomes the calls that dl-core makes to the vendor when
it runs the operator. So no operator needs a lowering rule here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from diopi_proto.dtypes import DTYPES
from diopi_proto.host.cabi import ffi
from diopi_proto.schema import DTYPES as DTYPE_NAMES
from diopi_proto.schema import Operator, Parameter
from diopi_proto.schema import load as load_schema
from dl_dicp.errors import HostCallError
from dl_dicp.recording.memory import Addresses, Ref, span

GENERATOR = "default"
"""Name of the device's default generator in graphs."""

Event = tuple[str, bool, list[Any]]
"""Event of dl-core's recorder: name, True for an operator call, and arguments."""

_WHY = {
    "host": "it ran on the CPU",
    "copy from host": "it copies from the host",
    "copy to host": "it reads a result on the host",
    "copy between devices": "it copies between devices",
    "kernel": "it launches a kernel of the program",
    "late error": "it may report invalid data after it was enqueued",
}


@dataclass(frozen=True)
class Call:
    """Call of a contract graph.

    :ivar arguments: JSON by parameter, with tensors and tensors in lists as :class:`Ref`.
    """

    operator: str
    arguments: dict[str, Any]

    def uses(self) -> Iterator[tuple[Ref, bool]]:
        """Yield the tensors of the call, with True for those that it writes."""
        for parameter in load_schema()[self.operator].params[1:]:
            given = self.arguments.get(parameter.name)
            for each in given if isinstance(given, list) else [given]:
                if isinstance(each, Ref):
                    yield each, parameter.direction != "in"


@cache
def opaque_operators() -> list[str]:
    """Return the operators that graphs cannot contain. The recorder does not read their
    arguments."""
    return [operator.name for operator in load_schema().values() if _is_refused(operator)]


def _is_refused(operator: Operator) -> bool:
    return any(
        p.allocated_by == "vendor"
        or p.layout == "csr"
        or p.type in ("bool*", "double*", "int64_t*", "void*")
        for p in operator.params[1:]
    )


def lower(events: Sequence[Event], addresses: Addresses) -> list[Call]:
    """Return the calls of one ATen operator.

    :raises HostCallError: an event is not a call that a graph can contain.
    """
    for name, is_call, arguments in events:
        if name in _WHY and not is_call:
            raise HostCallError(_WHY[name])
        if is_call and not arguments:
            raise HostCallError(f"a graph cannot contain {name}")
    tensors = [t for _, _, arguments in events for a in arguments for t in _tensors(a)]
    if any(on_host for _, _, _, on_host, _, _ in tensors):
        raise HostCallError("it takes a tensor of the host")
    addresses.add_temporaries(
        (address, span(shape, strides) * DTYPES[DTYPE_NAMES[dtype]].itemsize)
        for _, address, dtype, _, shape, strides in tensors
    )
    return [
        _call(name, arguments, addresses) if is_call else _copy(arguments, addresses)
        for name, is_call, arguments in events
    ]


def _tensors(argument: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(argument, tuple) and argument[0] == "tensor":
        yield argument
    elif isinstance(argument, list):
        for each in argument:
            yield from _tensors(each)


def _is_empty(argument: tuple[Any, ...]) -> bool:
    return argument[0] == "tensor" and 0 in argument[4]


def _copy(arguments: list[Any], addresses: Addresses) -> Call:
    """Return a copy of bytes as a copy of the widest integers that fit."""
    (_, to, _, _, (size,), _), (_, source, _, _, _, _) = arguments
    blocks = [addresses.ref(address, "uint8", (size,), (1,)) for address in (to, source)]
    wide = size % 4 == 0 and all(ref.offset % 4 == 0 for ref in blocks)
    dtype, count = ("int32", size // 4) if wide else ("uint8", size)
    target, origin = (Ref(ref.block, dtype, (count,), (1,), ref.offset) for ref in blocks)
    return Call("diopiCopyInp", {"src": origin, "dest": target})


def _call(name: str, arguments: list[Any], addresses: Addresses) -> Call:
    operator = load_schema()[name]
    parameters = operator.params[1:]
    if len(parameters) != len(arguments):
        raise HostCallError(
            f"{name} was recorded with {len(arguments)} arguments; the contract declares "
            f"{len(parameters)}"
        )
    return Call(
        name,
        {
            parameter.name: _value(parameter, argument, addresses)
            for parameter, argument in zip(parameters, arguments, strict=True)
            if not operator.count_of(parameter.name)
        },
    )


def _value(parameter: Parameter, argument: Any, addresses: Addresses) -> Any:
    kind = parameter.value_type.removeprefix("const ").removesuffix("*")
    if argument is None:
        return [] if kind == "diopiSize_t" and not parameter.nullable else None
    if isinstance(argument, tuple):
        if parameter.nullable and parameter.direction == "out" and _is_empty(argument):
            # An empty tensor stands for a result that is not needed, such as the statistics of a
            # batch norm in inference; its dtype is arbitrary.
            return None
        return _tuple(argument, addresses)
    if kind in ("float", "double"):
        return float(argument).hex()
    if kind in ("bool", "int64_t", "int32_t", "int", "char"):
        return argument
    if isinstance(argument, list):
        if kind == "diopiSize_t":
            return argument
        return [None if each is None else _tuple(each, addresses) for each in argument]
    return _enumerator(kind, argument)


def _tuple(argument: tuple[Any, ...], addresses: Addresses) -> Any:
    if argument[0] == "generator":
        return GENERATOR
    if argument[0] == "scalar":
        _, number, value = argument
        written = value.hex() if isinstance(value, float) else value
        return {"dtype": DTYPE_NAMES[number], "value": written}
    _, address, dtype, _, shape, strides = argument
    return addresses.ref(address, DTYPE_NAMES[dtype], shape, strides)


@cache
def _enumerators(kind: str) -> dict[int, str]:
    return dict(ffi.typeof(kind).elements)


def _enumerator(kind: str, number: int) -> str:
    found = _enumerators(kind).get(number)
    if found is None:
        raise HostCallError(f"{number} is not a {kind}")
    return found
