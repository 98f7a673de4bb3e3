"""Conversion of plain values: numbers, strings, enumerators, sizes and scalars.

Every converter takes the frame, the parameter's name and the value, and returns the value for cffi.
An invalid value raises :class:`diopi_proto.ArgumentError`, which states the expected value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..dtypes import DTYPES
from .cabi import ffi
from .frame import Frame
from .scalar import Scalar
from .structs import CData

Converter = Callable[[Frame, str, Any], Any]

_INTEGER_BITS = {"int64_t": 64, "int32_t": 32, "int": 32}
_INT64 = range(-(1 << 63), 1 << 63)
_UINT64 = range(1 << 64)


def _as_integer(value: Any) -> int | None:
    """Return the value as an int; None for booleans and for values that are not integers."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _as_number(value: Any) -> float | None:
    if isinstance(value, float | np.floating):
        return float(value)
    number = _as_integer(value)
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def integer(c_type: str, values: tuple[str, ...] = ()) -> Converter:
    """Return a converter to ``int64_t``, ``int32_t`` or ``int``, restricted to ``values``
    if any.
    """
    bits = _INTEGER_BITS[c_type]
    fits = range(-(1 << (bits - 1)), 1 << (bits - 1))

    def convert(frame: Frame, name: str, value: Any) -> int:
        number = _as_integer(value)
        if number is None or number not in fits:
            frame.fail(name, value, f"an integer of {bits} bits")
        if values and str(number) not in values:
            frame.fail(name, value, f"one of {', '.join(values)}")
        return number

    return convert


def floating(c_type: str) -> Converter:
    """Return a converter to ``float`` or ``double``."""
    largest = float(np.finfo(np.float32).max)

    def convert(frame: Frame, name: str, value: Any) -> float:
        number = _as_number(value)
        if number is None:
            frame.fail(name, value, "a number")
        if c_type == "float" and math.isfinite(number) and abs(number) > largest:
            frame.fail(name, value, "a number that float32 can hold")
        return number

    return convert


def boolean(frame: Frame, name: str, value: Any) -> bool:
    """Convert to ``bool``; integers are rejected, since they are usually misplaced arguments."""
    if not isinstance(value, bool | np.bool_):
        frame.fail(name, value, "a bool")
    return bool(value)


def string(values: tuple[str, ...]) -> Converter:
    """Return a converter to ``const char*``, restricted to ``values`` if any."""
    expected = f"one of {', '.join(map(repr, values))}" if values else "a string"

    def convert(frame: Frame, name: str, value: Any) -> CData:
        if not isinstance(value, str) or (values and value not in values):
            frame.fail(name, value, expected)
        if "\0" in value:
            frame.fail(name, value, "a string without a NUL character")
        return frame.keep_alive(ffi.new("char[]", value.encode()))

    return convert


@cache
def _enumerators(c_type: str) -> dict[str, int]:
    """Return the values of an enum by name: ``ReductionMean``, or ``mean`` for short."""
    found = {}
    prefix = {"diopiReduction_t": "Reduction", "diopiRoundMode_t": "RoundMode"}.get(c_type, "")
    for name, number in ffi.typeof(c_type).relements.items():
        if not name.endswith("END"):
            found[name] = number
            found[name.removeprefix(prefix).lower()] = number
    return found


def enumerator(c_type: str) -> Converter:
    """Return a converter of a name or a number to an enum's value."""

    def convert(frame: Frame, name: str, value: Any) -> int:
        known = _enumerators(c_type)
        number = known.get(value) if isinstance(value, str) else _as_integer(value)
        if number is None or number not in known.values():
            frame.fail(name, value, f"a {c_type}: {', '.join(known)}")
        return number

    return convert


def _int64_array(frame: Frame, name: str, value: Any) -> tuple[CData, int]:
    expected = "a sequence of integers"
    if isinstance(value, str | bytes | dict | set):
        frame.fail(name, value, expected)
    try:
        numbers = [_as_integer(entry) for entry in value]
    except TypeError:
        frame.fail(name, value, expected)
    if any(number is None or number not in _INT64 for number in numbers):
        frame.fail(name, value, f"{expected} of 64 bits")
    # Allocate one element more, because NULL would mean that the list is absent, not empty.
    array = frame.keep_alive(ffi.new("int64_t[]", len(numbers) + 1))
    array[0 : len(numbers)] = numbers
    return array, len(numbers)


def size(frame: Frame, name: str, value: Any) -> CData:
    """Convert to ``diopiSize_t``; None is NULL data and length 0."""
    pointer = frame.keep_alive(ffi.new("diopiSize_t*"))
    if value is not None:
        pointer.data, pointer.len = _int64_array(frame, name, value)
    return pointer[0]


def size_pointer(frame: Frame, name: str, value: Any) -> CData:
    """``diopiSize_t*``."""
    pointer = frame.keep_alive(ffi.new("diopiSize_t*"))
    pointer.data, pointer.len = _int64_array(frame, name, value)
    return pointer


def scalar(frame: Frame, name: str, value: Any) -> CData:
    """Convert a bool, an integer, a float or a :class:`Scalar` to ``const diopiScalar_t*``."""
    expected = "a bool, an integer of 64 bits, a float or a diopi_proto.host.Scalar"
    number, dtype = value, None
    if isinstance(value, Scalar):
        try:
            dtype = value.resolved().name
        except ValueError as error:
            frame.fail(name, value, str(error))
        number = value.value
    pointer = frame.keep_alive(ffi.new("diopiScalar_t*"))
    whole = int(number) if isinstance(number, bool | np.bool_) else _as_integer(number)
    if dtype is None:
        if isinstance(number, bool | np.bool_):
            dtype = "bool"
        else:
            dtype = "float64" if whole is None else "int64"
    if "float" in dtype:
        real = _as_number(number if whole is None else whole)
        if real is None:
            frame.fail(name, value, expected)
        pointer.fval = real
    elif whole is None or "complex" in dtype:
        frame.fail(name, value, expected)
    elif dtype == "uint64" and whole in _UINT64:
        pointer.ival = whole if whole in _INT64 else whole - 2**64
    elif whole not in _INT64:
        frame.fail(name, value, expected)
    else:
        pointer.ival = whole
    pointer.stype = DTYPES[dtype].number
    return pointer


def pointer_to(c_type: str, convert: Converter) -> Converter:
    """Return a converter to a pointer such as ``const int64_t*``; ``convert`` converts
    the value."""

    def converted(frame: Frame, name: str, value: Any) -> CData:
        return frame.keep_alive(ffi.new(f"{c_type}*", convert(frame, name, value)))

    return converted


def raw_pointer(frame: Frame, name: str, value: Any) -> CData:
    """Convert an address or a cffi pointer to ``void*``."""
    if isinstance(value, ffi.CData):
        return ffi.cast("void*", value)
    number = _as_integer(value)
    if number is None or not 0 <= number < 1 << 64:
        frame.fail(name, value, "an address")
    return ffi.cast("void*", number)
