"""The operators of the contract as data.

The data is generated from ``schema/*.yaml`` into ``_schema_gen.json``; reading it needs neither
yaml nor a compiler. ``schema/README.md`` documents the fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

Direction = Literal["in", "out", "inout"]
Layout = Literal["strided", "csr"]
OpClass = Literal["exact", "rounding", "elementary", "reduction", "matmul", "random"]

# Dtype groups that rules can name; ``any`` is the operator's own ``dtypes``.
DTYPE_GROUPS: Mapping[str, tuple[str, ...]] = {
    "float": ("float16", "bfloat16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "integer": ("uint8", "int8", "int16", "int32", "int64"),
    "real": ("float", "integer"),
    "number": ("real", "complex"),
    "all": ("number", "bool"),
}
DTYPES = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "bool", "bfloat16", "tfloat32"),
    *("complex32", "complex64", "complex128"),
)

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_MASK_64 = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operator or runtime function.

    :ivar type: as declared in C, e.g. ``const diopiScalar_t*``.
    :ivar direction: who writes it: ``in`` the caller only, ``out`` the callee only, ``inout`` both.
        A vendor must treat the contents of an ``out`` tensor as undefined.
    :ivar nullable: NULL (for a ``diopiSize_t``: NULL data and length 0) is allowed.
    :ivar nullable_entries: entries of the array may be NULL.
    :ivar counted_by: the parameter with the number of entries of this array, or the number itself
        if the operator fixes it.
    :ivar allocated_by: for ``diopiTensorHandle_t*`` and friends: ``vendor`` when the operator
        stores handles that it got from diopiRequireTensor (the context owns them), ``host`` when
        the caller passes handles. None for every other type.
    :ivar may_alias: inputs whose memory this output may share, element for element.
    :ivar dtype: dtype rule of a tensor parameter, see ``schema/README.md``; None for others.
    :ivar layout: layout of a tensor parameter: ``strided``, or ``csr`` for sparse CSR tensors.
    :ivar values: allowed values of a string or of a coded integer; empty if any value is allowed.
    :ivar doc: details that the operator's text does not cover; often empty.
    """

    name: str
    type: str
    direction: Direction = "in"
    nullable: bool = False
    nullable_entries: bool = False
    counted_by: str | int | None = None
    allocated_by: Literal["host", "vendor"] | None = None
    may_alias: tuple[str, ...] = ()
    dtype: str | None = None
    layout: Layout = "strided"
    values: tuple[str, ...] = ()
    doc: str = ""

    @property
    def value_type(self) -> str:
        """Return the type without a top-level const, which is not part of the function's type."""
        return self.type if self.type.endswith("*") else self.type.removeprefix("const ")

    @property
    def is_tensor(self) -> bool:
        """Return True for one tensor handle, const or not."""
        return self.value_type in ("diopiTensorHandle_t", "diopiConstTensorHandle_t")

    @property
    def is_tensor_pointer(self) -> bool:
        """Return True for arrays of tensor handles and for handles that the vendor stores."""
        return self.type in ("diopiTensorHandle_t*", "diopiConstTensorHandle_t*")


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the contract.

    :ivar params: parameters in the order of the C declaration, the context first.
    :ivar op_class: class of its rounding error; see ``diopi_proto.tolerance``.
    :ivar dtypes: dtypes of the tensors without a dtype rule, which share one dtype.
    :ivar in_place_of: the operator that computes the same into a separate output.
    :ivar gradient_of: the operator whose gradient this is.
    :ivar fingerprint: the frozen fingerprint of the signature, see :func:`fingerprint`.
    """

    name: str
    header: str
    family: str
    params: tuple[Parameter, ...]
    doc: str
    op_class: OpClass
    dtypes: str
    fingerprint: int
    in_place_of: str | None = None
    gradient_of: str | None = None
    returns: str = "diopiError_t"

    def parameter(self, name: str) -> Parameter:
        """Return the parameter ``name``.

        :raises KeyError: there is no such parameter.
        """
        for candidate in self.params:
            if candidate.name == name:
                return candidate
        raise KeyError(f"{self.name} has no parameter {name!r}")

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """Return the parameters that the operator writes, except generators."""
        return tuple(
            p
            for p in self.params
            if p.direction != "in" and p.value_type.rstrip("*") != "diopiGeneratorHandle_t"
        )

    def count_of(self, name: str) -> tuple[str, ...]:
        """Return the arrays whose length is the parameter ``name``."""
        return tuple(p.name for p in self.params if p.counted_by == name)


@cache
def expand_dtypes(rule: str, dtypes: str = "") -> tuple[str, ...]:
    """Return the distinct dtypes that a list such as ``"float, bool"`` allows.

    :param dtypes: list that ``any`` stands for.
    :raises ValueError: a word is neither a dtype nor a group.
    """
    names: dict[str, None] = {}
    for word in (part.strip() for part in rule.split(",")):
        if word in DTYPES:
            names[word] = None
        elif word in DTYPE_GROUPS:
            names.update(dict.fromkeys(expand_dtypes(", ".join(DTYPE_GROUPS[word]))))
        elif word == "any" and dtypes:
            names.update(dict.fromkeys(expand_dtypes(dtypes)))
        else:
            raise ValueError(f"{word!r} in {rule!r} is neither a dtype nor a group of dtypes")
    return tuple(names)


def canonical_signature(operator: Operator) -> str:
    """Return the text that is fingerprinted: return type, name and parameter types.

    It contains neither parameter names nor top-level consts, which are not part of the function's
    type: ``diopiError_t diopiRelu(diopiContextHandle_t, ...)``.
    """
    types = ", ".join(p.value_type for p in operator.params)
    return f"{operator.returns} {operator.name}({types})"


def fnv1a_64(text: str) -> int:
    """Return the 64-bit FNV-1a hash of the UTF-8 bytes of ``text``."""
    value = _FNV_OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * _FNV_PRIME) & _MASK_64
    return value


def fingerprint(operator: Operator) -> int:
    """Return the 64-bit FNV-1a hash of the canonical signature. A host calls a vendor's function
    only if both have the same fingerprint."""
    return fnv1a_64(canonical_signature(operator))


class _Operators(Mapping[str, Operator]):
    """Operators by name; each is built on first use."""

    def __init__(self, entries: dict[str, dict[str, Any]]) -> None:
        self._entries = entries
        self._built: dict[str, Operator] = {}

    def __getitem__(self, name: str) -> Operator:
        operator = self._built.get(name)
        if operator is None:
            operator = self._built[name] = _operator(name, self._entries[name])
        return operator

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _parameter(entry: dict[str, Any]) -> Parameter:
    for key in ("may_alias", "values"):
        if key in entry:
            entry = {**entry, key: tuple(entry[key])}
    return Parameter(**entry)


def _operator(name: str, entry: dict[str, Any]) -> Operator:
    fields = {key: value for key, value in entry.items() if key != "params"}
    return Operator(name=name, params=tuple(map(_parameter, entry["params"])), **fields)


@cache
def load() -> Mapping[str, Operator]:
    """Return all operators by name, in the order of the headers."""
    text = (Path(__file__).parent / "_schema_gen.json").read_text(encoding="utf-8")
    return _Operators(json.loads(text)["operators"])
