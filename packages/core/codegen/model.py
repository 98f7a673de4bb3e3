"""The table of wrappers, joined with torch's own operator schemas."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torchgen
import yaml
from torchgen.api.types import DispatcherSignature
from torchgen.gen import parse_native_yaml
from torchgen.model import NativeFunction, SchemaKind

TABLE = Path(__file__).with_name("table")
SCHEMA = Path(__file__).parents[2] / "diopi-proto" / "schema"
ELEMENTWISE = {
    "unary": "unary(given, {a}, Promotion::same)",
    "unary_like": "unary_like(given, {a})",
    "unary_float": "unary(given, {a}, Promotion::floating)",
    "binary": "binary(given, {a}, {b}, Promotion::same)",
    "binary_float": "binary(given, {a}, {b}, Promotion::floating)",
    "binary_rounded": "binary(given, {a}, {b}, rounding_mode ? Promotion::same : "
    "Promotion::floating)",
    "comparison": "binary(given, {a}, {b}, Promotion::comparison)",
    "binary_scalar": "with_scalar(given, {a}, {b}, Promotion::same, NumberAs::parameter)",
    "comparison_scalar": "with_scalar(given, {a}, {b}, Promotion::comparison)",
    "ternary": "ternary(given, {a}, {b}, {c})",
    "select": "select(given, {a}, {b}, {c})",
}


@dataclass(frozen=True)
class Call:
    """One contract call of an entry: ``diopiAdd`` and its argument expressions after ``ctx``."""

    function: str
    arguments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Call:
        match = re.fullmatch(r"((?:diopi|dlop)\w+)\((.*)\)", text)
        if match is None:
            raise ValueError(f"{text!r} is not a contract call like diopiAdd(out, self, other)")
        return cls(match[1], tuple(split_arguments(match[2])))


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts


@dataclass(frozen=True)
class Form:
    """One ATen overload that an entry serves: the functional, in-place or out= form."""

    function: NativeFunction
    signature: DispatcherSignature

    @property
    def overload(self) -> str:
        return str(self.function.func.name)

    @property
    def cpp_name(self) -> str:
        return self.function.func.name.unambiguous_name()

    @property
    def kind(self) -> SchemaKind:
        return self.function.func.kind()

    @property
    def outputs(self) -> list[str]:
        """Names of the out= arguments, or ``self`` of an in-place form."""
        if self.kind is SchemaKind.inplace:
            return ["self"]
        return [argument.name for argument in self.function.func.arguments.out]


@dataclass(frozen=True)
class Entry:
    """One line of the table."""

    op: str
    rule: str
    call: Call
    scalar: Call | None
    plan: str | None
    only: str | None
    when: str | None
    otherwise: str | None
    composed: str | None
    operands: tuple[str, ...]
    forms: tuple[Form, ...]
    may_coincide: frozenset[str]
    """Arguments that the contract allows to be the output itself."""

    @property
    def functional(self) -> Form:
        return self.forms[0]

    @property
    def contract_functions(self) -> list[str]:
        return [self.call.function] + ([self.scalar.function] if self.scalar else [])

    def argument_types(self) -> dict[str, str]:
        return {a.name: str(a.type) for a in self.functional.function.func.arguments.flat_all}


def native_functions() -> list[NativeFunction]:
    root = Path(torchgen.__file__).parent / "packaged/ATen/native"
    return list(
        parse_native_yaml(
            str(root / "native_functions.yaml"), str(root / "tags.yaml")
        ).native_functions
    )


def load_table() -> dict[str, list[Entry]]:
    """The entries of each family, by the name of its file."""
    functions = native_functions()
    by_name = {str(f.func.name): f for f in functions}
    groups: dict[object, list[NativeFunction]] = {}
    for function in functions:
        groups.setdefault(function.func.signature(), []).append(function)
    return {
        path.stem: [_entry(row, by_name, groups) for row in yaml.safe_load(path.read_text("utf-8"))]
        for path in sorted(TABLE.glob("*.yaml"))
    }


@functools.cache
def _contract() -> dict[str, list[dict[str, Any]]]:
    """The parameters of the contract's operators, after ctx."""
    found = {}
    for path in SCHEMA.glob("*.yaml"):
        for operator in yaml.safe_load(path.read_text("utf-8")).get("operators", ()):
            found[operator["name"]] = operator["params"]
    return found


def _may_coincide(call: Call) -> frozenset[str]:
    """What is passed for the parameters that the first output may alias."""
    parameters = _contract()[call.function]
    passed: list[str] = []
    for argument in call.arguments:
        # A list is passed as its elements and their number.
        passed += [argument] * (2 if argument.startswith("list(") else 1)
    by_name = {p["name"]: a for p, a in zip(parameters, passed, strict=True)}
    outputs = [p for p in parameters if p.get("direction") == "out"]
    return frozenset(by_name[name] for p in outputs[:1] for name in p.get("may_alias", ()))


def _entry(
    row: dict[str, str],
    by_name: dict[str, NativeFunction],
    groups: dict[object, list[NativeFunction]],
) -> Entry:
    base = by_name[row["op"]]
    call = Call.parse(row["call"])
    functions = [base]
    if row["rule"] != "inplace" and "required" not in call.arguments:
        others = [f for f in groups[base.func.signature()] if f is not base]
        wanted = (
            (SchemaKind.out, SchemaKind.inplace)
            if row["rule"] in ELEMENTWISE
            else (SchemaKind.out,)
        )
        functions += [f for kind in wanted for f in others if f.func.kind() is kind]
    tensors = [a.name for a in base.func.arguments.flat_all if str(a.type) == "Tensor"]
    if row["rule"] in ("binary_scalar", "comparison_scalar"):
        tensors = [
            "self",
            row.get("second")
            or next(a.name for a in base.func.arguments.flat_all if str(a.type) == "Scalar"),
        ]
    operands = (row["first"], row["second"]) if "first" in row else tuple(tensors)
    return Entry(
        op=row["op"],
        rule=row["rule"],
        call=call,
        scalar=Call.parse(row["scalar"]) if "scalar" in row else None,
        plan=row.get("plan"),
        only=row.get("only"),
        when=row.get("when"),
        otherwise=row.get("otherwise"),
        composed=row.get("composed"),
        operands=operands,
        may_coincide=_may_coincide(call),
        forms=tuple(
            Form(f, DispatcherSignature.from_schema(f.func, symint=False)) for f in functions
        ),
    )
