"""Tests of an operator's arguments: from the schema, and from the clauses of :mod:`.shapes`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..dtypes import DTYPES
from ..schema import Operator, Parameter, expand_dtypes
from .shapes import SHAPES

_PATTERN = re.compile(r"(\w+) (~ |holds )?\[([^\]]*)\]")
_PATTERN_KINDS = {None: "SHAPE", "~ ": "EXPANDS", "holds ": "HOLDS"}
_DIM = re.compile(r"(\w+) of (\w+)")
_REDUCES = re.compile(r"(\w+) reduces (\w+) over (\w+)")
_JOINS = re.compile(r"(\w+) joins (\w+) along (\w+)")
_BROADCASTS = re.compile(r"(\w+) broadcasts (\w+), (\w+)")
_DEPENDENT = re.compile(r"(like|promote|accumulate) |\w+ of ")
"""Dtype rules that depend on other parameters."""

_TYPES = {
    "diopiSize_t": "DL_LEGACY_SIZES",
    "int64_t": "DL_LEGACY_INTEGER",
    "const int64_t*": "DL_LEGACY_OPTIONAL_INTEGER",
}


@dataclass(frozen=True)
class Rule:
    """One test, with the names of ``dl/legacy.h``.

    :ivar kind: a ``dl_legacy_kind_t``.
    :ivar position: position of the tested parameter; the context is 0.
    :ivar type: a ``dl_legacy_type_t``.
    :ivar text: the rule as it is written, for messages.
    :ivar sizes: for each word of the pattern, a ``dl_legacy_size_kind_t`` and the word's value.
    """

    kind: str
    parameter: str
    position: int
    type: str
    text: str
    count: int = -1
    other: int = -1
    dims: int = -1
    dims_type: str = "DL_LEGACY_INTEGER"
    dtypes: tuple[str, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass
class _Names:
    """Numbers for the names and sequences that occur in the clauses of one operator."""

    sizes: dict[str, int] = field(default_factory=dict)
    sequences: dict[str, int] = field(default_factory=dict)

    def word(self, text: str) -> tuple[str, int]:
        if text == "_":
            return "DL_LEGACY_ANY", 0
        if text.isdecimal():
            return "DL_LEGACY_NUMBER", int(text)
        if text.startswith("*"):
            return "DL_LEGACY_SEQUENCE", self.sequences.setdefault(text, len(self.sequences))
        return "DL_LEGACY_NAME", self.sizes.setdefault(text, len(self.sizes))


class _Reader:
    """Reader of the clauses of one operator."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._places = {p.name: place for place, p in enumerate(operator.params)}
        self._names = _Names()

    def rule(self, kind: str, name: str, text: str, **more: object) -> Rule:
        parameter = self._parameter(name)
        count = -1
        if parameter.is_tensor_pointer and isinstance(parameter.counted_by, str):
            count = self._places[parameter.counted_by]
        more.setdefault("count", count)
        return Rule(kind, name, self._places[name], self._type(parameter), text, **more)  # type: ignore[arg-type]

    def clause(self, text: str) -> Rule:
        """Return the rule of one clause.

        :raises ValueError: it is invalid.
        """
        if found := _PATTERN.fullmatch(text):
            name, how, words = found.groups()
            kind = f"DL_LEGACY_{_PATTERN_KINDS[how]}"
            sizes = tuple(self._names.word(w.strip()) for w in words.split(",") if w.strip())
            return self.rule(kind, name, f"[{words}]", sizes=sizes)
        if found := _DIM.fullmatch(text):
            return self.rule("DL_LEGACY_DIM", found[1], text, other=self._place(found[2]))
        for kind, pattern in (("REDUCES", _REDUCES), ("JOINS", _JOINS)):
            if found := pattern.fullmatch(text):
                dims = self._parameter(found[3])
                more = {"other": self._place(found[2]), "dims": self._place(found[3])}
                if kind == "JOINS":
                    more["count"] = self._place(str(self._parameter(found[2]).counted_by))
                return self.rule(
                    f"DL_LEGACY_{kind}", found[1], text, dims_type=self._type(dims), **more
                )
        if found := _BROADCASTS.fullmatch(text):
            places = {"other": self._place(found[2]), "dims": self._place(found[3])}
            return self.rule("DL_LEGACY_BROADCASTS", found[1], text, **places)
        raise ValueError(f"{self._operator.name}: {text!r} is not a clause; see diopi_proto.legacy")

    def _place(self, name: str) -> int:
        self._parameter(name)
        return self._places[name]

    def _parameter(self, name: str) -> Parameter:
        try:
            return self._operator.parameter(name)
        except KeyError as error:
            raise ValueError(str(error.args[0])) from None

    def _type(self, parameter: Parameter) -> str:
        if parameter.is_tensor:
            return "DL_LEGACY_TENSOR"
        if parameter.is_tensor_pointer:
            return "DL_LEGACY_TENSORS"
        if parameter.value_type in _TYPES:
            return _TYPES[parameter.value_type]
        raise ValueError(
            f"{self._operator.name}: {parameter.name} is a {parameter.type}, which has no shape"
        )


def rules_of(operator: Operator, shapes: str | None = None) -> tuple[Rule, ...]:
    """Return the tests of an operator's arguments, in their order.

    :param shapes: clauses; None: those of :data:`.shapes.SHAPES`.
    :raises ValueError: a clause is invalid.
    """
    reader = _Reader(operator)
    clauses = SHAPES.get(operator.name, "") if shapes is None else shapes
    if not clauses and shapes is None:
        clauses = "; ".join(_shapes_of_aliases(operator))
    passed = list(_passed_tensors(operator))
    rules = [*_required(reader, passed), *_dtypes(reader, operator, passed)]
    rules += [reader.clause(text.strip()) for text in clauses.split(";") if text.strip()]
    return tuple(rules)


def _passed_tensors(operator: Operator) -> Iterator[Parameter]:
    """Yield the parameters for which the caller passes strided tensors."""
    for parameter in operator.params:
        if parameter.layout != "strided" or parameter.allocated_by == "vendor":
            continue
        if parameter.is_tensor or (
            parameter.is_tensor_pointer and isinstance(parameter.counted_by, str)
        ):
            yield parameter


def _required(reader: _Reader, passed: Iterable[Parameter]) -> Iterator[Rule]:
    for parameter in passed:
        if not parameter.nullable and not parameter.nullable_entries:
            yield reader.rule("DL_LEGACY_REQUIRED", parameter.name, "required")


def _dtypes(reader: _Reader, operator: Operator, passed: Iterable[Parameter]) -> Iterator[Rule]:
    """Rules that list dtypes or name another tensor; promotion is left to the library."""
    names = {p.name: p for p in operator.params}
    for parameter in passed:
        rule = parameter.dtype or ""
        like = rule.removeprefix("like ")
        if like != rule and names[like].is_tensor:
            other = operator.params.index(names[like])
            yield reader.rule("DL_LEGACY_DTYPE", parameter.name, f"that of {like}", other=other)
        elif rule and not _DEPENDENT.match(rule):
            dtypes = tuple(x for x in expand_dtypes(rule, operator.dtypes) if x in DTYPES)
            yield reader.rule("DL_LEGACY_DTYPE", parameter.name, rule, dtypes=dtypes)


def _shapes_of_aliases(operator: Operator) -> Iterator[str]:
    """Yield clauses for inputs whose memory an output may share: several inputs broadcast to the
    output, and a single input has its shape."""
    tensors = [p for p in operator.params if p.is_tensor]
    inputs = [p for p in tensors if p.direction == "in"]
    for output in tensors:
        if not output.may_alias or output.layout != "strided":
            continue
        yield f"{output.name} [*{output.name}]"
        for name in output.may_alias:
            only = len(inputs) == 1
            yield f"{name} [*{output.name}]" if only else f"{name} ~ [*{output.name}]"
