"""The opened library, and the C++ layer that calls it (``dl/legacy.h``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._ffi_gen import ffi
from .._native import c_string, native, number, text
from ..dtypes import DTYPES
from ..errors import VendorLoadError
from ..loading import load_runtime, open_library
from ..schema import load
from .rules import Rule, rules_of


class LegacyOperators:
    """Operators of a library in DIOPI's own style, for a host that binds them.

    Creating one loads ``libdiopirt.so.1`` for the whole process, and the library.

    :ivar path: absolute path of the library.
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
        given = ffi.new("dl_legacy_library_t*")
        keep: list[Any] = []  # only until the layer has copied it
        given.operators = self._operators(keep)
        given.operator_count = len(self.operators)
        if "diopiGetLastErrorString" in elf.exported:
            function = ffi.addressof(self._library, "diopiGetLastErrorString")
            given.last_error = ffi.cast("const char*(*)(void)", function)
        given.set_current_context = ffi.addressof(load_runtime(), "diopirt_set_current_context")
        tests = [(name, rule) for name in sorted(self.operators) for rule in rules_of(schema[name])]
        given.rules, given.rule_count = _rules(tests, keep), len(tests)
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

    def _operators(self, keep: list[Any]) -> Any:
        names = sorted(self.operators)
        rows = ffi.new("dl_operator_t[]", len(names) or 1)
        keep.append(rows)
        for row, name in zip(rows, names, strict=False):
            row.name = c_string(name, keep)
            row.function = ffi.cast("dl_function_t", ffi.addressof(self._library, name))
        return rows


def _rules(rules: list[tuple[str, Rule]], keep: list[Any]) -> Any:
    rows = ffi.new("dl_legacy_rule_t[]", len(rules) or 1)
    keep.append(rows)
    for row, (operator, rule) in zip(rows, rules, strict=False):
        row.operator_name = c_string(operator, keep)
        row.parameter = c_string(rule.parameter, keep)
        row.text = c_string(rule.text, keep)
        row.kind, row.position = number(rule.kind), rule.position
        row.type, row.count = number(rule.type), rule.count
        row.other, row.dims = rule.other, rule.dims
        row.dims_type = number(rule.dims_type)
        row.dtypes = sum(1 << DTYPES[name].number for name in rule.dtypes)
        row.size_count = len(rule.sizes)
        sizes = ffi.new("dl_legacy_size_t[]", [(number(k), v) for k, v in rule.sizes] or 1)
        keep.append(sizes)
        row.sizes = sizes
    return rows
