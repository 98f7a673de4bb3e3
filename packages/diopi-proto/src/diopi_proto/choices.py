"""The choices extension: autotuned selection among a vendor's implementations of a call.

Other hosts import this module during program startup, so it imports little.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ._ffi_gen import ffi
from ._native import text
from .errors import ArgumentError
from .header_constants import HeaderConstants
from .linked import LinkedExtension

CData = Any
"""A cffi object; cffi has no static types."""
_constants = HeaderConstants(ffi)
_LONGEST_NAME = 31
_kept: list[CData] = []
"""References to callbacks that vendors may still call; most programs make one request."""
_log = logging.getLogger("diopi_proto.vendor")


@dataclass(frozen=True)
class ChoiceKey:
    """Key of a choice: a choice point of the vendor, and the values that describe one call."""

    point: str
    values: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.point}:{','.join(map(str, self.values))}"

    @staticmethod
    def parse(text: str) -> ChoiceKey:
        """Parse the output of ``str(key)``.

        :raises ArgumentError: the text is not a key.
        """
        point, _, numbers = text.partition(":")
        try:
            return ChoiceKey(point, tuple(int(number) for number in numbers.split(",") if number))
        except ValueError:
            raise _refused(f"{text[:100]!r} is not a key; the form is 'gemm:1,2'") from None


@dataclass(frozen=True)
class ChoiceRecord:
    """A key that occurred, with the number of its calls."""

    key: ChoiceKey
    calls: int
    choices: tuple[str, ...]
    """Names of the candidates; without a table, the vendor tries the first one first."""


@dataclass(frozen=True)
class ChoiceStatistics:
    """Lookups since the library was loaded."""

    entries: int
    hits: int
    misses: int


def _refused(why: str) -> ArgumentError:
    return ArgumentError(f"[choices.install] {why}", operator="choices.install")


def _report(kind: Any, error: BaseException, trace: Any) -> None:
    """Report an exception in a request, which must not reach the vendor."""
    _log.error("a request of the host failed", exc_info=(kind, error, trace))


class Choices(LinkedExtension):
    """The choices extension of one vendor; :attr:`diopi_proto.Vendor.choices`."""

    NAME = "choices"

    def identity(self, device: int = 0) -> str:
        """Return one line with everything on which a measured choice depends, except its key."""
        raw = ffi.new("dl_choice_properties_t*")
        raw.struct_size = ffi.sizeof("dl_choice_properties_t")
        self._call("properties", device, raw)
        return text(raw.identity)

    def install(self, entries: Mapping[ChoiceKey, str], device: int = 0) -> None:
        """Replace the vendor's table of choices.

        :raises ArgumentError: a key or a name is too long.
        :raises VendorError: the vendor lacks a choice point or a choice; the previous table stays.
        """
        raw = ffi.new("dl_choice_entry_t[]", max(1, len(entries)))
        for entry, (key, choice) in zip(raw, entries.items(), strict=False):
            if len(key.values) > _constants.DL_CHOICE_MOST_VALUES:
                raise _refused(
                    f"{key} has {len(key.values)} values; a key has at most "
                    f"{_constants.DL_CHOICE_MOST_VALUES}"
                )
            for name in (key.point, choice):
                if len(name.encode()) > _LONGEST_NAME:
                    raise _refused(f"the name {name!r} is longer than {_LONGEST_NAME} bytes")
            entry.key.point = key.point.encode()
            entry.key.count = len(key.values)
            entry.key.values[0 : len(key.values)] = list(key.values)
            entry.choice = choice.encode()
        self._call("install", device, raw, len(entries))

    def request(self, wanted: Callable[[], None] | None, device: int = 0) -> None:
        """Register ``wanted``, which is called once, on the thread of the first call that reaches a
        choice point and before its lookup. Its exceptions are logged. None withdraws the request.
        """
        callback = ffi.NULL
        if wanted is not None:

            def call(self: CData) -> None:
                wanted()

            callback = ffi.callback("void(void*)", call, onerror=_report)
            _kept.append(callback)
        self._call("request", device, callback, ffi.NULL)

    def record(self, capacity: int = 10000, device: int = 0) -> None:
        """Record the first ``capacity`` distinct keys that occur from now on; 0 stops recording."""
        self._call("record", device, capacity)

    def recorded(self, device: int = 0) -> Iterable[ChoiceRecord]:
        """Return the keys that occurred since :meth:`record`, in the order of first occurrence."""
        number = 0
        while True:
            raw = ffi.new("dl_choice_record_t*")
            raw.struct_size = ffi.sizeof("dl_choice_record_t")
            self._call("recorded", device, number, raw)
            if raw.calls == 0:
                return
            values = tuple(int(value) for value in raw.key.values[0 : raw.key.count])
            key = ChoiceKey(text(raw.key.point), values)
            yield ChoiceRecord(key, int(raw.calls), tuple(text(raw.choices).split()))
            number += 1

    def statistics(self, device: int = 0) -> ChoiceStatistics:
        """Return the number of lookups, hits and misses."""
        raw = ffi.new("dl_choice_statistics_t*")
        raw.struct_size = ffi.sizeof("dl_choice_statistics_t")
        self._call("statistics", device, raw)
        return ChoiceStatistics(int(raw.entries), int(raw.hits), int(raw.misses))
