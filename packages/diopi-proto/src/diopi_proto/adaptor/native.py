"""The adaptor of one vendor instance: the C++ code that applies the rules, and its counters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._ffi_gen import ffi
from .._native import c_string, native, number, text
from ..dtypes import DTYPES, dtype_of
from ..errors import AdaptorError
from ..schema import Parameter, load
from .rules import AdaptorFile, Rule

_FORMATS = {
    "any": "DL_FORMAT_STRIDED",
    "contiguous": "DL_FORMAT_CONTIGUOUS",
    "channels_last": "DL_FORMAT_CHANNELS_LAST",
}
_DIRECTIONS = {"in": "DL_ADAPTOR_IN", "out": "DL_ADAPTOR_OUT", "inout": "DL_ADAPTOR_INOUT"}


@dataclass(frozen=True)
class Conversion:
    """One kind of conversion by an adaptor, and how often it was done.

    :ivar source: dtype and layout before it, as in ``"int64"`` or ``"float32 strided"``.
    :ivar target: dtype and layout after the conversion.
    :ivar result: True if a result was converted for the host; False for an argument of the vendor.
    :ivar on_host: True if the host converted it, after waiting for the stream; False if the vendor
        did.
    """

    operator: str
    parameter: str
    source: str
    target: str
    result: bool
    on_host: bool
    times: int

    def __str__(self) -> str:
        return f"{self.parameter}: {self.source}→{self.target}" + (
            " (on the host)" if self.on_host else ""
        )


class Adaptor:
    """Adaptor that applies the rules of one file to the calls of one vendor instance.

    :ivar pointer: ``dl_adaptor_t*``, for the host that binds operators.
    """

    def __init__(self, file: AdaptorFile) -> None:
        self.file = file
        self._library = native()
        keep: list[Any] = []
        rules = [
            _row(file, rule, keep) for by_name in file.rules.values() for rule in by_name.values()
        ]
        table = ffi.new("dl_adaptor_rule_t[]", len(rules) or 1)
        for index, row in enumerate(rules):
            table[index] = row[0]
        self.pointer: Any = self._library.dl_adaptor_make(table, len(rules))
        if self.pointer == ffi.NULL:
            raise AdaptorError(f"{file.path}: out of memory while creating the adaptor")
        self._ended = False

    @property
    def address(self) -> int:
        """:attr:`pointer` as an integer, for hosts in C++."""
        return int(ffi.cast("uintptr_t", self.pointer))

    def conversions(self) -> list[Conversion]:
        """Return the conversions since the start or the last :meth:`reset`, in any order."""
        count = 0 if self._ended else self._library.dl_adaptor_counts(self.pointer, ffi.NULL, 0)
        counts = ffi.new("dl_adaptor_count_t[]", count or 1)
        # Other threads continue to count; conversions that they add meanwhile are left out.
        count = (
            min(count, self._library.dl_adaptor_counts(self.pointer, counts, count)) if count else 0
        )
        return [_conversion(counts[index]) for index in range(count)]

    def reset(self) -> None:
        """Reset the counters."""
        if not self._ended:
            self._library.dl_adaptor_reset_counts(self.pointer)

    def last_error(self, operator: str) -> str:
        """Return why the adaptor made this thread's last call of the operator fail; empty if the
        adaptor did not.
        """
        name = ffi.new("char[]", operator.encode())
        return text(self.pointer.last_error(self.pointer, name))

    def end(self) -> None:
        """Destroy the adaptor, after the last call of its operators."""
        if not self._ended:
            self._ended = True
            self._library.dl_adaptor_destroy(self.pointer)


def _row(file: AdaptorFile, rule: Rule, keep: list[Any]) -> Any:
    operator = load()[rule.operator]
    parameter = operator.parameter(rule.parameter)
    row = ffi.new("dl_adaptor_rule_t*")
    row.operator_name = c_string(rule.operator, keep)
    row.parameter = c_string(rule.parameter, keep)
    places = {p.name: place for place, p in enumerate(operator.params)}
    row.position = places[rule.parameter]
    stored = parameter.allocated_by == "vendor"
    row.direction = number("DL_ADAPTOR_STORED" if stored else _DIRECTIONS[parameter.direction])
    row.count_position, row.count = -1, 0
    if isinstance(parameter.counted_by, str):
        row.count_position = places[parameter.counted_by]
    elif parameter.is_tensor_pointer:
        row.count = parameter.counted_by or 1
    row.layout = number(_FORMATS[rule.layout])
    row.stored_dtype, row.stored_like = _stored(parameter, places)
    row.flags = number("DL_ADAPTOR_WRAP") if rule.wrap else 0
    if file.vendor_checks:
        row.flags |= number("DL_ADAPTOR_VENDOR")
    row.cast[0:32] = range(32)
    for source, target in rule.cast.items():
        row.cast[DTYPES[source].number] = DTYPES[target].number
    keep.append(row)
    return row


def _stored(parameter: Parameter, places: dict[str, int]) -> tuple[int, int]:
    """Return the expected dtype of a stored handle, or the parameter that has the same dtype."""
    rule = parameter.dtype or ""
    if rule in DTYPES:
        return DTYPES[rule].number, -1
    return -1, places[rule.removeprefix("like ")] if rule.startswith("like ") else -1


def _conversion(count: Any) -> Conversion:
    names = {number(constant): name for name, constant in _FORMATS.items()}
    dtypes = (dtype_of(count.from_dtype).name, dtype_of(count.to_dtype).name)
    source, target = dtypes
    formats = [names.get(f, "strided") for f in (count.from_format, count.to_format)]
    formats = ["strided" if f == "any" else f for f in formats]
    if formats[0] != formats[1]:
        source, target = f"{source} {formats[0]}", f"{target} {formats[1]}"
        if dtypes[0] == dtypes[1]:
            source, target = formats
    return Conversion(
        text(count.operator_name),
        text(count.parameter),
        source,
        target,
        bool(count.result),
        bool(count.on_host),
        int(count.times),
    )


def totals(conversions: list[Conversion]) -> Iterator[tuple[tuple[str, str], int]]:
    """Return the number of conversions by operator and kind."""
    found: dict[tuple[str, str], int] = {}
    for one in conversions:
        key = (one.operator, str(one))
        found[key] = found.get(key, 0) + one.times
    return iter(sorted(found.items()))
