"""The data of a library vendor, as :mod:`dl_vendor_kit.library.loading` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .helpers import Helper
from .located import Finding, Place
from .signatures import Function

SHAPES = ("two_phase", "direct", "handle_descriptors")
# Kinds of a C type: what the generated code passes for an argument of that type.
TYPE_KINDS = (
    "tensor",
    "tensors",
    "scalar",
    "ints",
    "bools",
    "doubles",
    "dtype",
    "string",
    "integer",
    "floating",
    "boolean",
    "stream",
    "handle",
    "descriptor",
    "descriptors",
    "object",
    "workspace",
    "workspace_size",
    "workspace_result",
)
NUMBERS = {
    "bool": "boolean",
    "int": "integer",
    "int8_t": "integer",
    "int16_t": "integer",
    "int32_t": "integer",
    "int64_t": "integer",
    "uint8_t": "integer",
    "uint32_t": "integer",
    "uint64_t": "integer",
    "size_t": "integer",
    "float": "floating",
    "double": "floating",
    "char*": "string",
    "const char*": "string",
}


@dataclass(frozen=True)
class Library:
    """``library.yaml``.

    :ivar folder: the folder of the data files.
    :ivar places: where the keys of library.yaml and of ``outputs`` are.
    :ivar shape: how functions are called; one of :data:`SHAPES`.
    :ivar opened: names of shared libraries, in the order of lookups; ``*`` matches any text.
    :ivar types: kind of each C type in the signature table.
    :ivar dtypes: the library's enum value for each dtype.
    :ivar formats: the library's enum value for each memory format.
    :ivar format_by_rank: memory format by number of dimensions; the key ``None`` stands for all
        numbers that are not listed.
    :ivar copy: function ``(to, from)`` that copies between any strides; empty: none.
    :ivar vendor_class: C++ class of the vendor, with the method ``operator_library(ctx)``.
    :ivar vendor_header: header that defines this class.
    :ivar declarations: headers that declare the types; empty: they are declared as opaque structs.
    :ivar header: the library's own header, which the signature table must agree with; empty: none.
    :ivar status: C type that the functions return.
    :ivar signatures: path of the signature table, relative to the data files' folder.
    :ivar table: path of the signature table in messages of the compiler.
    :ivar headers: headers with the vendor's own helpers and handwritten operators.
    :ivar namespace: C++ namespace of the generated code.
    :ivar stream: C type of a stream in calls.
    :ivar executor: C type of an executor (two_phase).
    :ivar outputs: folders or files that are generated, relative to the data files' folder.
    """

    folder: Path
    shown: str
    where: Place
    places: Mapping[str, Place]
    name: str
    shape: str
    opened: tuple[str, ...]
    types: Mapping[str, str]
    dtypes: Mapping[str, int]
    formats: Mapping[str, int]
    format_by_rank: Mapping[int | None, str]
    copy: str
    helpers: Mapping[str, Helper]
    vendor_class: str
    vendor_header: str
    headers: tuple[str, ...]
    declarations: tuple[str, ...]
    header: str
    status: str
    signatures: str
    table: str
    namespace: str
    stream: str
    executor: str
    outputs: Mapping[str, str]
    functions: Mapping[str, Function]

    @property
    def table_shown(self) -> str:
        """Return the path of the signature table in findings."""
        return str(Path(self.shown) / self.signatures)

    def place(self, key: str) -> Place:
        """Return where a key of library.yaml, or of ``outputs``, is."""
        return self.places.get(key, self.where)

    def kind(self, type_: str) -> str | None:
        """Return the kind of a C type; None if it is unknown."""
        return self.types.get(type_) or NUMBERS.get(type_)


@dataclass(frozen=True)
class Text:
    """An expression's text and where it is."""

    text: str
    where: Place


@dataclass(frozen=True)
class Case:
    """One way to compute an operator.

    :ivar when: condition on the arguments; None: always.
    :ivar needs: functions that the library must have, in addition to those that are called.
    :ivar dtypes: allowed dtypes of parameters, which replace the documented ones.
    :ivar format: memory formats of parameters; the key ``""`` stands for every tensor.
    :ivar contiguous: parameters that are passed as contiguous copies.
    :ivar upcast: parameters of half precision that are passed as float32 copies.
    :ivar temporaries: temporary tensors, which exist for the duration of the calls.
    :ivar calls: the calls, in order.
    :ivar each: parameter with the number of times that the calls are made; ``i`` is the index of
        the repetition. None: they are made once.
    :ivar workspaces: call or helper that returns the size of a function's workspace, by function;
        the key ``""`` stands for the only call.
    :ivar unused: parameters that the calls do not need.
    :ivar function: a handwritten C++ function instead of calls.
    :ivar places: where the entries of ``dtypes`` and ``format`` are: ``("dtypes", "input")``.
    """

    where: Place
    number: int
    when: Text | None = None
    needs: tuple[Text, ...] = ()
    dtypes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    format: Mapping[str, str] = field(default_factory=dict)
    contiguous: tuple[Text, ...] = ()
    upcast: tuple[Text, ...] = ()
    temporaries: Mapping[str, Text] = field(default_factory=dict)
    calls: tuple[Text, ...] = ()
    each: Text | None = None
    unused: tuple[Text, ...] = ()
    workspaces: Mapping[str, Text] = field(default_factory=dict)
    function: str = ""
    places: Mapping[tuple[str, str], Place] = field(default_factory=dict)

    def place(self, key: str, name: str) -> Place:
        """Return where an entry of a mapping of the case is."""
        return self.places.get((key, name), self.where)


@dataclass(frozen=True)
class Entry:
    """An operator and its cases, in the order in which they are tried."""

    name: str
    family: str
    where: Place
    cases: tuple[Case, ...]


@dataclass
class Data:
    """All data of a library, with the findings about its form."""

    library: Library
    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
