"""Rows of the table, combined with the schemas of torch and of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torchgen
from contract import allocates, is_output, match_values, operator
from declarations import Declarations
from problems import EntryError, Mistake, at_key, unknown
from rows import ELEMENTWISE, FALLBACK, Row, Use, read_rows
from torchgen.api.types import DispatcherSignature
from torchgen.gen import parse_native_yaml
from torchgen.model import NativeFunction, SchemaKind


@dataclass(frozen=True)
class Form:
    """One ATen overload that an entry implements: the functional, in-place or out= form."""

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
        """Return the names of the out= arguments, or ``self`` for an in-place form."""
        if self.kind is SchemaKind.inplace:
            return ["self"]
        return [argument.name for argument in self.function.func.arguments.out]


@dataclass(frozen=True)
class Entry:
    """One row, with the overloads that it implements."""

    row: Row
    forms: tuple[Form, ...]
    operands: tuple[str, ...]
    """Operands of an elementwise operator, in the order of the call."""
    values: str | None
    """Struct of the values that the plan computes for the call."""
    may_coincide: frozenset[str]
    """Arguments that may share memory with the output, according to the contract."""

    @property
    def op(self) -> str:
        return self.row.op

    @property
    def rule(self) -> str:
        return self.row.rule

    @property
    def functional(self) -> Form:
        return self.forms[0]

    @property
    def calls(self) -> tuple[Use, ...]:
        """Return the calls in the order in which the vendor's operators are looked up."""
        return (self.row.call, *self.row.alternatives)

    @property
    def contract_functions(self) -> list[str]:
        scalar = (self.row.scalar,) if self.row.scalar else ()
        return [call.name for call in (self.row.call, *scalar, *self.row.alternatives)]

    @property
    def allocates(self) -> bool:
        """Return True if the vendor allocates the output, because its size depends on the data."""
        return allocates(self.row.call)

    @property
    def writes_given(self) -> bool:
        """Return True if the native function takes the outputs of an out= or in-place form."""
        return self.rule != "in_place" and not self.allocates

    @property
    def output_names(self) -> list[str]:
        count = len(self.functional.function.func.returns)
        return ["out"] if count == 1 else [f"out{i}" for i in range(count)]

    def argument_types(self) -> dict[str, str]:
        return {a.name: str(a.type) for a in self.functional.function.func.arguments.flat_all}


def native_functions() -> list[NativeFunction]:
    root = Path(torchgen.__file__).parent / "packaged/ATen/native"
    return list(
        parse_native_yaml(
            str(root / "native_functions.yaml"), str(root / "tags.yaml")
        ).native_functions
    )


def may_coincide(call: Use) -> frozenset[str]:
    """Return the arguments whose parameters the first output may alias."""
    parameters = operator(call.name).params
    passed = {p.name: value for p, value in match_values(call)}
    outputs = [p for p in parameters if p.direction == "out"]
    return frozenset(
        value for p in outputs[:1] for name in p.may_alias if isinstance(value := passed[name], str)
    )


class Table:
    """Creates entries from rows."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        functions = native_functions()
        self.by_name = {str(f.func.name): f for f in functions}
        self.groups: dict[object, list[NativeFunction]] = {}
        for function in functions:
            self.groups.setdefault(function.func.signature(), []).append(function)

    def load(self, folder: Path, errors: list[Mistake]) -> dict[str, list[Entry]]:
        """Return the entries of each family; errors are appended to ``errors``."""
        families: dict[str, list[Entry]] = {}
        seen: dict[str, str] = {}
        for path, row in read_rows(folder, errors):
            try:
                if row.op in seen:
                    raise EntryError(f"{seen[row.op]} already has an entry for it", "op")
                seen[row.op] = path.name
                entry = self._entry(row)
                family = operator(row.call.name).family
                if family != path.stem:
                    raise EntryError(
                        f"{row.call.name} belongs to the family {family!r}: move the entry to "
                        f"{family}.yaml",
                        "call",
                    )
                families.setdefault(path.stem, []).append(entry)
            except EntryError as mistake:
                errors.append(Mistake(path.name, row.op, mistake.key, str(mistake)))
        return families

    def _entry(self, row: Row) -> Entry:
        if row.op not in self.by_name:
            with at_key("op"):
                raise unknown(row.op, "overload of ATen", self.by_name)
        base = self.by_name[row.op]
        types = {a.name for a in base.func.arguments.flat_all}
        for name in row.rounded:
            with at_key("rounded"):
                if name not in types:
                    raise unknown(name, f"argument of {row.op}", types)
        coinciding: list[frozenset[str]] = []
        for key, calls in (("call", (row.call,)), ("alternatives", row.alternatives)):
            with at_key(key):
                coinciding += [may_coincide(call) for call in calls]
        functions = [base]
        if row.rule != "in_place" and not allocates(row.call):
            others = [f for f in self.groups[base.func.signature()] if f is not base]
            wanted = (
                (SchemaKind.out, SchemaKind.inplace)
                if row.rule in ELEMENTWISE
                else (SchemaKind.out,)
            )
            functions += [f for kind in wanted for f in others if f.func.kind() is kind]
        values = None
        if row.plan is not None:
            with at_key("plan"):
                if row.plan.name not in self.declarations.plans:
                    raise unknown(row.plan.name, "plan function", self.declarations.plans)
            values = self.declarations.plans[row.plan.name].values
        if isinstance(row.otherwise, str) and row.otherwise != FALLBACK:
            forms = self.declarations.forms
            with at_key("otherwise"):
                if row.otherwise not in forms:
                    raise unknown(row.otherwise, "composed form", [FALLBACK, *forms])
        return Entry(
            row=row,
            forms=tuple(
                Form(f, DispatcherSignature.from_schema(f.func, symint=False)) for f in functions
            ),
            operands=_operands(row, base) if row.rule in ELEMENTWISE else (),
            values=values,
            may_coincide=frozenset.intersection(*coinciding),
        )


def _operands(row: Row, base: NativeFunction) -> tuple[str, ...]:
    types = {a.name: str(a.type) for a in base.func.arguments.flat_all}
    named = [value for value in row.call.values if isinstance(value, str) and not is_output(value)]
    tensors = [name for name in named if types.get(name) == "Tensor"]
    if row.rule in ("binary_scalar", "comparison_scalar"):
        numbers = [name for name in named if types.get(name) == "Scalar"]
        tensors = [*tensors[:1], *numbers[:1]]
    wanted = {"unary": 1, "ternary": 3, "select": 3}.get(row.rule.split("_")[0], 2)
    if len(tensors) != wanted:
        found = ", ".join(tensors) or "none"
        raise EntryError(f"the rule {row.rule!r} needs {wanted} operands; found {found}", "call")
    return tuple(tensors)
