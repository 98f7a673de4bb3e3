"""The opened library, and the C++ layer that calls it (``dl/legacy.h``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._ffi_gen import ffi
from .._native import native, text
from ..dtypes import DTYPES
from ..errors import VendorLoadError
from ..loading import load_runtime, open_library
from ..schema import load
from .rules import Rule, tests_of


class LegacyOperators:
    """Operators of a library in DIOPI's own style, for a host that binds them.

    Creating one loads ``libdiopirt.so.1`` for the whole process, and the library.

    :ivar path: absolute path of the library.
    :ivar name: result of the library's ``diopiGetVendorName``; empty if it has none.
    :ivar version: result of its ``diopiGetImplVersion``; empty if it has none.
    :ivar operators: names of its operators.
    :ivar pointer: ``dl_adaptor_t*`` of the layer.
    :raises VendorLoadError: the library cannot be loaded.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._host = native()
        self._library, elf = open_library(self.path, legacy=True)
        schema = load()
        self.operators = frozenset(elf.exported & schema.keys())
        self._keep: list[Any] = []
        exported = elf.exported
        self.name = self._string("diopiGetVendorName", exported)
        self.version = self._string("diopiGetImplVersion", exported)
        given = ffi.new("dl_legacy_library_t*")
        given.operators = self._operators()
        given.operator_count = len(self.operators)
        given.last_error = self._function(
            "diopiGetLastErrorString", "const char*(*)(void)", exported
        )
        given.set_current_context = ffi.addressof(load_runtime(), "diopirt_set_current_context")
        rules = list(tests_of({name: schema[name] for name in sorted(self.operators)}))
        given.rules, given.rule_count = self._rules(rules), len(rules)
        self.pointer: Any = self._host.dl_legacy_make(given)
        if self.pointer == ffi.NULL:
            raise VendorLoadError(f"{self.path}: out of memory while its operators were bound")
        self._ended = False

    @property
    def address(self) -> int:
        """:attr:`pointer` as an integer, for hosts in C++."""
        return int(ffi.cast("uintptr_t", self.pointer))

    def last_error(self, operator: str) -> str:
        """Return why the operator that this thread called last failed; empty if nothing is
        known."""
        name = ffi.new("char[]", operator.encode())
        return text(self.pointer.last_error(self.pointer, name))

    def end(self) -> None:
        """Destroy the layer, after the last call of its operators."""
        if not self._ended:
            self._ended = True
            self._host.dl_legacy_destroy(self.pointer)

    def _keep_alive(self, value: Any) -> Any:
        self._keep.append(value)
        return value

    def _chars(self, word: str) -> Any:
        return self._keep_alive(ffi.new("char[]", word.encode()))

    def _function(self, name: str, kind: str, exported: frozenset[str]) -> Any:
        if name not in exported:
            return ffi.NULL
        return ffi.cast(kind, ffi.addressof(self._library, name))

    def _string(self, name: str, exported: frozenset[str]) -> str:
        function = self._function(name, "const char*(*)(void)", exported)
        return text(function()) if function else ""

    def _operators(self) -> Any:
        names = sorted(self.operators)
        rows = self._keep_alive(ffi.new("dl_operator_t[]", len(names) or 1))
        for row, name in zip(rows, names, strict=False):
            row.name = self._chars(name)
            row.function = ffi.cast("dl_function_t", ffi.addressof(self._library, name))
        return rows

    def _rules(self, rules: list[tuple[str, Rule]]) -> Any:
        rows = self._keep_alive(ffi.new("dl_legacy_rule_t[]", len(rules) or 1))
        for row, (operator, rule) in zip(rows, rules, strict=False):
            row.operator_name = self._chars(operator)
            row.parameter = self._chars(rule.parameter)
            row.text = self._chars(rule.text)
            row.kind, row.position = self._number(rule.kind), rule.position
            row.type, row.count = self._number(rule.type), rule.count
            row.other, row.dims = rule.other, rule.dims
            row.dims_type = self._number(rule.dims_type)
            row.dtypes = sum(1 << DTYPES[name].number for name in rule.dtypes)
            row.size_count = len(rule.sizes)
            row.sizes = self._keep_alive(
                ffi.new("dl_legacy_size_t[]", [(self._number(k), v) for k, v in rule.sizes] or 1)
            )
        return rows

    def _number(self, name: str) -> int:
        return int(getattr(self._host, name))
