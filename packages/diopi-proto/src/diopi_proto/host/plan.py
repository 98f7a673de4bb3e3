"""Plans that convert the arguments of an operator to C values, built once from the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import ArgumentError
from ..schema import Operator, Parameter, load
from . import values as convert
from .cabi import ffi
from .context import CallContext
from .frame import Frame
from .results import input_or_required, required_array
from .structs import CData

Result = Callable[[CallContext], Any]
"""Function that reads one result of a successful call."""

_NUMBER_POINTERS = ("bool*", "double*", "int64_t*")
_ARRAYS = ("diopiTensorHandle_t*", "diopiConstTensorHandle_t*", "diopiGeneratorHandle_t*")


@dataclass(frozen=True)
class Plan:
    """Conversion of the caller's arguments to the C arguments of one operator.

    :ivar arguments: names of the parameters that the caller passes, in order. The caller does not
        pass the context, the lengths of arrays, or results (scalars, and tensors that the vendor
        allocates).
    :ivar optional: results that the caller may decline with ``name=None``.
    """

    operator: Operator
    arguments: tuple[str, ...]
    optional: frozenset[str]
    counts: Mapping[str, tuple[str, ...]]
    converters: Mapping[str, convert.Converter]
    function_type: CData

    def bind(self, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name.

        :raises ArgumentError: an argument is missing, unknown or passed twice.
        """
        given = dict(zip(self.arguments, positional, strict=False))
        twice = given.keys() & named.keys()
        unknown = named.keys() - set(self.arguments) - self.optional
        missing = [n for n in self.arguments if n not in given and n not in named]
        wrong = [
            f"got {len(positional)} by position" if len(positional) > len(self.arguments) else "",
            f"{', '.join(sorted(twice))} twice" if twice else "",
            f"no parameter {', '.join(sorted(unknown))}" if unknown else "",
            f"{', '.join(missing)} missing" if missing else "",
        ]
        if any(wrong):
            raise ArgumentError(
                f"[{self.operator.name}] takes ({', '.join(self.arguments)}): "
                + "; ".join(filter(None, wrong)),
                operator=self.operator.name,
            )
        return {**given, **named}

    def prepare(self, frame: Frame, given: dict[str, Any]) -> tuple[list[Any], list[Result]]:
        """Return the C arguments after the context, and the readers of the results.

        :raises ArgumentError: a value does not fit its parameter.
        """
        for name, value in given.items():
            if name in self.optional and value is not None:
                frame.fail(
                    name, value, "None, which declines this result; a result cannot be passed"
                )
        counts = {name: self._count(frame, name, given) for name in self.counts}
        passed: list[Any] = []
        results: list[Result] = []
        for parameter in self.operator.params[1:]:
            name = parameter.name
            if name in counts:
                passed.append(counts[name])
            elif _is_written_by_vendor(parameter):
                if name in given:
                    passed.append(ffi.NULL)
                    results.append(lambda context: None)
                else:
                    pointer, result = self._output(frame, parameter)
                    passed.append(pointer)
                    results.append(result)
            else:
                value = self._input(frame, parameter, given[name])
                passed.append(value)
                if _is_number_result(parameter) and value != ffi.NULL:
                    results.append(_reader(value))
        return passed, results

    def _input(self, frame: Frame, parameter: Parameter, value: Any) -> Any:
        if value is None:
            if not parameter.nullable:
                frame.fail(parameter.name, None, _expected(parameter) + "; it is not optional")
            if parameter.value_type != "diopiSize_t":
                return ffi.NULL
        return self.converters[parameter.name](frame, parameter.name, value)

    def _output(self, frame: Frame, parameter: Parameter) -> tuple[CData, Result]:
        operator, name = self.operator.name, parameter.name
        if not parameter.is_tensor_pointer:
            number = frame.keep_alive(ffi.new(parameter.type))
            return number, _reader(number)
        # The schema gives the number of tensors that the operator stores; a single handle counts as
        # 1.
        count = parameter.counted_by
        length = count if isinstance(count, int) else 1
        handles = frame.keep_alive(ffi.new("diopiTensorHandle_t[]", length))
        if length == 1:
            return (
                handles,
                lambda context: (
                    None
                    if parameter.nullable_entries and handles[0] == ffi.NULL
                    else input_or_required(handles[0], context, frame.tensors, operator, name)
                ),
            )
        return handles, lambda context: required_array(
            handles, length, context, frame.tensors, operator, name
        )

    def _count(self, frame: Frame, name: str, given: dict[str, Any]) -> int:
        lengths = {}
        for array in self.counts[name]:
            value = given.get(array)
            if value is not None:
                try:
                    lengths[array] = len(value)
                except TypeError:
                    frame.fail(array, value, "a sequence")
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{array} has {count}" for array, count in lengths.items())
            raise ArgumentError(
                f"[{self.operator.name}] arrays that share the length {name} have different "
                f"lengths: {shown}",
                operator=self.operator.name,
                parameter=name,
            )
        return next(iter(lengths.values()), 0)


@cache
def plan_for(name: str) -> Plan:
    """Return the plan of an operator.

    :raises ArgumentError: the schema has no such operator.
    """
    operator = load().get(name)
    if operator is None:
        raise ArgumentError(f"the contract has no operator {name!r}", operator=name)
    params = operator.params[1:]
    counts = {}
    for parameter in params:
        arrays = operator.count_of(parameter.name)
        if arrays:
            counts[parameter.name] = arrays
    outputs = [p for p in params if _is_written_by_vendor(p)]
    inputs = [p for p in params if p.name not in counts and p not in outputs]
    return Plan(
        operator=operator,
        arguments=tuple(p.name for p in inputs),
        optional=frozenset(p.name for p in outputs if p.nullable),
        counts=counts,
        converters={p.name: _converter(p) for p in inputs},
        function_type=ffi.typeof(f"{name}_fn"),
    )


def _is_written_by_vendor(parameter: Parameter) -> bool:
    return parameter.allocated_by == "vendor" or (
        parameter.direction == "out" and parameter.type in _NUMBER_POINTERS
    )


def _reader(pointer: CData) -> Result:
    return lambda context: pointer[0]


def _is_number_result(parameter: Parameter) -> bool:
    return parameter.direction == "inout" and parameter.type in _NUMBER_POINTERS


def _converter(parameter: Parameter) -> convert.Converter:
    kind = parameter.value_type
    if parameter.type in _ARRAYS:
        return _array(parameter)
    if parameter.is_tensor:
        expected, layout = _expected(parameter), parameter.layout
        return lambda frame, name, value: frame.tensor(name, value, expected, layout)
    if kind.startswith("diopiGeneratorHandle_t"):
        return lambda frame, name, value: frame.generator(name, value)
    if kind == "const char*":
        return convert.string(parameter.values)
    if kind.endswith("diopiScalar_t*"):
        return convert.scalar
    if kind.endswith("*"):
        target = kind.removeprefix("const ").removesuffix("*")
        if target == "diopiSize_t":
            return convert.size_pointer
        if target == "void":
            return convert.raw_pointer
        return convert.pointer_to(target, _by_value(target, ()))
    return _by_value(kind, parameter.values)


def _by_value(kind: str, values: tuple[str, ...]) -> convert.Converter:
    if kind in ("int64_t", "int32_t", "int"):
        return convert.integer(kind, values)
    if kind in ("float", "double"):
        return convert.floating(kind)
    if kind == "bool":
        return convert.boolean
    if kind == "diopiSize_t":
        return convert.size
    return convert.enumerator(kind)


def _array(parameter: Parameter) -> convert.Converter:
    """Return the converter of an array of handles, which checks a fixed length."""
    of_tensors = parameter.is_tensor_pointer
    expected = _expected(parameter)
    fixed = parameter.counted_by if isinstance(parameter.counted_by, int) else None

    def converted(frame: Frame, name: str, value: Any) -> CData:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            frame.fail(name, value, expected)
        if fixed is not None and len(value) != fixed:
            frame.fail(name, value, f"{expected}, {fixed} of them")
        kind = parameter.type.removesuffix("*")
        handles = frame.keep_alive(ffi.new(f"{kind}[]", len(value) + 1))
        for index, entry in enumerate(value):
            if entry is None and parameter.nullable_entries:
                continue
            place = f"{name}[{index}]"
            handles[index] = (
                frame.tensor(place, entry, "a tensor")
                if of_tensors
                else frame.generator(place, entry)
            )
        return handles

    return converted


def _expected(parameter: Parameter) -> str:
    if parameter.type in _ARRAYS:
        what = "tensors" if parameter.is_tensor_pointer else "generators"
        return f"a sequence of {what}" + (" or None" if parameter.nullable_entries else "")
    what = "a tensor" if parameter.is_tensor else parameter.type
    return what + (" or None" if parameter.nullable else "")
