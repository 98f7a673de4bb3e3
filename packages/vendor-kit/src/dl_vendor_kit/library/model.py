"""The data of a library vendor: ``library.yaml`` and ``operators/*.yaml``, checked for form.

The meaning of the expressions is checked by :mod:`dl_vendor_kit.library.check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diopi_proto.schema import DTYPES

from . import signatures
from .helpers import HELPERS, KINDS, VIEWS, Helper
from .located import DataError, Finding, Place, Value, read

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
_LIBRARY_KEYS = frozenset(
    [
        "name",
        "shape",
        "open",
        "signatures",
        "vendor",
        "types",
        "dtypes",
        "formats",
        "defaults",
        "copy",
        "helpers",
        "outputs",
        "namespace",
        "headers",
        "stream",
        "executor",
        "declarations",
    ]
)
_CASE_KEYS = frozenset(
    [
        "when",
        "needs",
        "dtypes",
        "format",
        "contiguous",
        "upcast",
        "temporaries",
        "call",
        "calls",
        "each",
        "function",
        "unused",
        "workspace",
    ]
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Library:
    """``library.yaml``.

    :ivar folder: the folder of the data files.
    :ivar shape: how functions are called; one of :data:`SHAPES`.
    :ivar opened: names of shared libraries, in the order of lookups; ``*`` matches any text.
    :ivar types: kind of each C type in the signature table.
    :ivar dtypes: the library's number of each dtype.
    :ivar formats: the library's number of each memory format.
    :ivar format_by_rank: format of a tensor with so many dimensions; ``None``: of all others.
    :ivar copy: function ``(to, from)`` that copies between any strides; empty: none.
    :ivar vendor_class: C++ class of the vendor, with the method ``operator_library(ctx)``.
    :ivar vendor_header: header that defines it.
    :ivar declarations: headers that declare the types; empty: they are declared as opaque structs.
    :ivar headers: headers with the vendor's own helpers and handwritten operators.
    :ivar namespace: C++ namespace of the generated code.
    :ivar stream: C type of a stream in calls.
    :ivar executor: C type of an executor (two_phase).
    :ivar outputs: folders or files that are generated, relative to the data files' folder.
    """

    folder: Path
    shown: str
    where: Place
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
    namespace: str
    stream: str
    executor: str
    outputs: Mapping[str, str]
    functions: Mapping[str, signatures.Function]

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
    :ivar temporaries: tensors for the time of the call.
    :ivar calls: the calls, in order.
    :ivar each: parameter with the number of repetitions, whose index is ``i``; None: once.
    :ivar workspaces: call or helper that returns the size of a function's workspace, by function;
        the key ``""`` stands for the only call.
    :ivar unused: parameters that the calls do not need.
    :ivar function: a handwritten C++ function instead of calls.
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


def load(folder: Path, shown: str | None = None) -> Data:
    """Read ``library.yaml``, the signature table and ``operators/*.yaml``.

    :param shown: the path of the folder in findings; default: the folder itself.
    :raises DataError: ``library.yaml`` or the signature table is invalid.
    """
    library = _library(folder, shown or str(folder))
    data = Data(library)
    seen: dict[str, Place] = {}
    for file in sorted((folder / "operators").glob("*.yaml")):
        try:
            entries = read(file, f"{library.shown}/operators/{file.name}").mapping(file.name)
        except DataError as error:
            data.findings.append(error.finding)
            continue
        for name, value in entries.items():
            try:
                if name in seen:
                    raise DataError(value.where, name, f"is already described at {seen[name]}")
                seen[name] = value.where
                data.entries.append(Entry(name, file.stem, value.where, _cases(name, value)))
            except DataError as error:
                data.findings.append(error.finding)
    return data


def _library(folder: Path, shown: str) -> Library:
    root = read(folder / "library.yaml", f"{shown}/library.yaml")
    subject = "library.yaml"
    keys = root.mapping(subject, _LIBRARY_KEYS)

    def text(key: str, default: str | None = None) -> str:
        if key in keys:
            return keys[key].text(key)
        if default is None:
            raise DataError(root.where, subject, f"the key {key!r} is missing")
        return default

    def texts(key: str) -> tuple[str, ...]:
        return tuple(x.text(key) for x in keys[key].items(key)) if key in keys else ()

    def table(key: str, convert: Callable[[Value], object]) -> dict[str, object]:
        given = keys[key].mapping(key) if key in keys else {}
        return {name: convert(value) for name, value in given.items()}

    shape = text("shape")
    if shape not in SHAPES:
        raise DataError(keys["shape"].where, "shape", f"must be one of {', '.join(SHAPES)}")
    types = {
        signatures.plain_type(k): str(v)
        for k, v in table("types", lambda v: v.text("types")).items()
    }
    for type_, kind in types.items():
        if kind not in TYPE_KINDS:
            kinds = ", ".join(sorted(TYPE_KINDS))
            raise DataError(keys["types"].where, f"types, {type_}", f"{kind!r} is none of {kinds}")
    dtypes = {k: int(str(v)) for k, v in table("dtypes", lambda v: v.integer("dtypes")).items()}
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise DataError(keys["dtypes"].where, "dtypes", f"{dtype!r} is not a dtype")
    formats = {k: int(str(v)) for k, v in table("formats", lambda v: v.integer("formats")).items()}
    vendor = (
        keys["vendor"].mapping("vendor", frozenset(("class", "header"))) if "vendor" in keys else {}
    )
    table_file = folder / text("signatures", "signatures.json")
    functions = signatures.load(table_file, f"{shown}/{table_file.name}")
    copy = text("copy", "")
    if copy and copy not in functions:
        raise DataError(keys["copy"].where, "copy", f"{copy} is not in the signature table")
    return Library(
        folder=folder,
        shown=shown,
        where=root.where,
        name=text("name"),
        shape=shape,
        opened=texts("open"),
        types=types,
        dtypes=dtypes,
        formats=formats,
        format_by_rank=_formats(keys.get("defaults"), formats),
        copy=copy,
        helpers={**VIEWS, **HELPERS, **_own_helpers(keys.get("helpers"))},
        vendor_class=vendor["class"].text("class") if "class" in vendor else "Vendor",
        vendor_header=vendor["header"].text("header") if "header" in vendor else "vendor.h",
        headers=texts("headers"),
        declarations=texts("declarations"),
        namespace=text("namespace", text("name")),
        stream=text("stream", "void*"),
        executor=text("executor", "void"),
        outputs={k: str(v) for k, v in table("outputs", lambda v: v.text("outputs")).items()},
        functions=functions,
    )


def _formats(defaults: Value | None, formats: Mapping[str, int]) -> dict[int | None, str]:
    if defaults is None:
        return {}
    given = defaults.mapping("defaults", frozenset(("format",))).get("format")
    if given is None:
        return {}
    found: dict[int | None, str] = {}
    for key, value in given.mapping("format").items():
        name = value.text("format")
        if name not in formats:
            raise DataError(value.where, "format", f"{name!r} is not in the table of formats")
        if key != "else" and not key.isdigit():
            raise DataError(value.where, "format", "the keys are numbers of dimensions and 'else'")
        found[None if key == "else" else int(key)] = name
    return found


def _own_helpers(given: Value | None) -> dict[str, Helper]:
    found: dict[str, Helper] = {}
    for name, value in ({} if given is None else given.mapping("helpers")).items():
        subject = f"helper @{name}"
        keys = value.mapping(subject, frozenset(("takes", "returns", "function", "context", "doc")))
        if "returns" not in keys or "function" not in keys:
            raise DataError(value.where, subject, "needs 'returns' and 'function'")
        takes = (
            tuple(x.text(subject) for x in keys["takes"].items(subject)) if "takes" in keys else ()
        )
        returns = keys["returns"].text(subject)
        for kind in (*takes, returns):
            if kind.rstrip("?*&") not in KINDS:
                raise DataError(value.where, subject, f"{kind!r} is not a kind of value")
        doc = keys["doc"].text(subject) if "doc" in keys else ""
        context = "context" in keys and keys["context"].value is True
        found[name] = Helper(takes, returns, keys["function"].text(subject), context, doc)
    return found


def _cases(name: str, value: Value) -> tuple[Case, ...]:
    items = value.items(name) if not isinstance(value.value, dict) else [value]
    if not items or (len(items) == 1 and items[0].value is None):
        raise DataError(value.where, name, "has no case; remove the entry, or add a call")
    return tuple(_case(name, item, number) for number, item in enumerate(items, start=1))


def _case(name: str, value: Value, number: int) -> Case:
    subject = f"{name}, case {number}"
    if isinstance(value.value, str):
        return Case(value.where, number, calls=(Text(value.value, value.where),))
    keys = value.mapping(subject, _CASE_KEYS)

    def one(key: str) -> Text | None:
        return Text(keys[key].text(subject), keys[key].where) if key in keys else None

    def many(key: str) -> tuple[Text, ...]:
        if key not in keys:
            return ()
        return tuple(Text(x.text(subject), x.where) for x in keys[key].items(subject))

    given = [key for key in ("call", "calls", "function") if key in keys]
    if len(given) != 1:
        raise DataError(value.where, subject, "needs exactly one of call, calls and function")
    function = keys["function"].text(subject) if "function" in keys else ""
    if function and not all(_IDENTIFIER.fullmatch(x) for x in function.split("::")):
        raise DataError(keys["function"].where, subject, f"{function!r} is not a C++ function")
    if "function" in keys and {"temporaries", "each", "contiguous", "upcast", "format"} & set(keys):
        raise DataError(
            value.where, subject, "a handwritten function has only when, needs and dtypes"
        )
    dtypes: dict[str, tuple[str, ...]] = {}
    if "dtypes" in keys:
        for parameter, listed in keys["dtypes"].mapping(subject).items():
            dtypes[parameter] = tuple(x.text(subject) for x in listed.items(subject))
    formats: dict[str, str] = {}
    if "format" in keys:
        given_format = keys["format"]
        if isinstance(given_format.value, dict):
            formats = {k: v.text(subject) for k, v in given_format.value.items()}
        else:
            formats = {"": given_format.text(subject)}
    temporaries: dict[str, Text] = {}
    if "temporaries" in keys:
        for temporary, text in keys["temporaries"].mapping(subject).items():
            if not _IDENTIFIER.fullmatch(temporary):
                raise DataError(text.where, subject, f"{temporary!r} cannot be a temporary's name")
            temporaries[temporary] = Text(text.text(subject), text.where)
    calls = many("calls") or ((one("call"),) if "call" in keys else ())
    if not calls and not function:
        raise DataError(value.where, subject, "calls is empty")
    return Case(
        where=value.where,
        number=number,
        when=one("when"),
        needs=many("needs"),
        dtypes=dtypes,
        format=formats,
        contiguous=many("contiguous"),
        upcast=many("upcast"),
        temporaries=temporaries,
        calls=tuple(x for x in calls if x is not None),
        each=one("each"),
        unused=many("unused"),
        workspaces=_workspaces(keys.get("workspace"), subject),
        function=function,
    )


def _workspaces(given: Value | None, subject: str) -> dict[str, Text]:
    if given is None:
        return {}
    if isinstance(given.value, dict):
        return {k: Text(v.text(subject), v.where) for k, v in given.mapping(subject).items()}
    return {"": Text(given.text(subject), given.where)}
