"""Operators that libraries add to the devices of an existing vendor.

:class:`AddedLayer` opens the libraries; a host binds its operators instead of the vendor's. The C++
code of ``dl/added_layer.h`` calls the libraries in the given order, and the vendor's own operator
if all libraries decline a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ._ffi_gen import ffi
from ._native import c_string, native, number, text
from .errors import DiopiError, VendorLoadError
from .loading import open_library
from .vendorbuild.rules import OPERATORS_SYMBOL

_STATES = ("bound", "mismatched", "unknown", "refused")


class AddedLibrary(NamedTuple):
    """A library with added operators."""

    name: str
    path: str
    label: str
    """Name in messages: ``"fast of dl-fast 1.0"``."""


@dataclass(frozen=True)
class AddedOperator:
    """One operator of a library.

    :ivar operator: name in the contract; empty if the library is refused.
    :ivar device: the vendor's index of the device; -1: listed for devices of any kind.
    :ivar state: ``"bound"``; ``"mismatched"``: built for another signature; ``"unknown"``: not in
        this host's contract; ``"refused"``: the library has failed, and ``reason`` says why.
    :ivar calls: number of calls that it has served.
    :ivar declined: number of calls that it has left to the next implementation.
    """

    library: AddedLibrary
    operator: str
    device: int
    state: str
    reason: str
    calls: int
    declined: int


class AddedLayer:
    """The layer over the operators of one vendor instance.

    :param libraries: libraries in the order in which they are tried. Those that cannot be opened
        are left out; see :attr:`problems`.
    :param inner: ``dl_adaptor_t*`` of the vendor's own layer; NULL if it has none.

    :ivar pointer: ``dl_adaptor_t*``, for the host that binds operators.
    :ivar problems: libraries that could not be opened, with the reason.
    """

    def __init__(self, libraries: Iterable[AddedLibrary], inner: Any = ffi.NULL) -> None:
        self._native = native()
        self.problems: list[tuple[AddedLibrary, str]] = []
        self.libraries: list[AddedLibrary] = []
        opened = []
        for library in libraries:
            try:
                opened.append(open_library(Path(library.path), added=True)[0])
                self.libraries.append(library)
            except DiopiError as error:
                self.problems.append((library, str(error)))
        keep: list[Any] = []  # only until the layer has copied it
        rows = ffi.new("dl_added_library_t[]", len(opened) or 1)
        for row, library, handle in zip(rows, self.libraries, opened, strict=False):
            row.name, row.label = c_string(library.name, keep), c_string(library.label, keep)
            row.entry = ffi.cast("dl_operators_entry_v1_t", ffi.addressof(handle, OPERATORS_SYMBOL))
        self._opened = opened  # the code must stay loaded
        self.pointer: Any = self._native.dl_added_make(rows, len(opened), inner)
        if self.pointer == ffi.NULL:
            raise VendorLoadError("out of memory while added operators were bound")
        self._ended = False

    @property
    def address(self) -> int:
        """:attr:`pointer` as an integer, for hosts in C++."""
        return int(ffi.cast("uintptr_t", self.pointer))

    def select(self, device: int) -> None:
        """Request the operators of a device, unless a call has done that."""
        if not self._ended:
            self._native.dl_added_select(self.pointer, device)

    def operators(self) -> list[AddedOperator]:
        """Return the operators of all libraries for any device, followed by those of the devices
        for which they have been requested."""
        if self._ended:
            return []
        count = self._native.dl_added_rows(self.pointer, ffi.NULL, 0)
        rows = ffi.new("dl_added_row_t[]", count or 1)
        count = min(count, self._native.dl_added_rows(self.pointer, rows, count)) if count else 0
        states = {number(f"DL_ADDED_{state.upper()}"): state for state in _STATES}
        return [
            AddedOperator(
                self.libraries[row.library],
                text(row.operator_name),
                int(row.device),
                states[int(row.state)],
                text(row.text),
                int(row.calls),
                int(row.declined),
            )
            for row in rows[0:count]
        ]

    def last_error(self, operator: str) -> str:
        """Return why added operators, or the vendor's layer, failed or declined this thread's last
        call of the operator; empty if the vendor has the reason."""
        name = ffi.new("char[]", operator.encode())
        return text(self.pointer.last_error(self.pointer, name))

    def end(self) -> None:
        """Destroy the layer, after the last call of its operators."""
        if not self._ended:
            self._ended = True
            self._native.dl_added_destroy(self.pointer)


def served_address() -> int:
    """Return the address of ``dl_added_served``, for hosts in C++."""
    return int(ffi.cast("uintptr_t", ffi.addressof(native(), "dl_added_served")))


def describe(operators: Sequence[AddedOperator]) -> list[str]:
    """Return a line for each library: its label and the operators that it adds."""
    found: dict[str, list[str]] = {}
    for one in operators:
        if one.state == "bound" and one.device < 0:
            found.setdefault(one.library.label, []).append(one.operator)
    return [f"{label}: {', '.join(names)}" for label, names in found.items()]
