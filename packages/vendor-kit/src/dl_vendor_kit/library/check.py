"""Check of the operators' cases against the contract's schema and the signature table.

The result is the C++ code of each part, from which
:mod:`dl_vendor_kit.library.emit` writes functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from diopi_proto.schema import DTYPES, Operator, Parameter
from diopi_proto.schema import load as load_schema

from .arguments import Conversion, Target, convert, sizing_positions, targets
from .expressions import Expression, ExpressionError, parse, parse_step
from .library_file import unknown_dtype
from .located import DataError, Finding, Place, close_names
from .lower import NS, Lowered, Scope, lower, lower_condition, present_if
from .model import Case, Data, Entry, Library, Text
from .parameters import is_input, kind_of, required_outputs
from .signatures import Function

_T = TypeVar("_T")
_TEMPORARY = re.compile(r"(?P<dtype>[^\s(\[]+(?:\([^)]*\))?)\s+(?P<rest>like\s.+|\[.*\]|@.+)")


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """One call: a function of the library with its arguments' code, or an action's code."""

    function: Function | None
    arguments: tuple[str, ...]
    condition: str | None


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """The code of a case's parts.

    :ivar upcast: names of upcast parameters, with whether the calls write them.
    """

    case: Case
    when: str | None
    needs: tuple[str, ...]
    dtypes: Mapping[str, tuple[str, ...]]
    temporaries: tuple[tuple[str, str], ...]
    calls: tuple[CheckedCall, ...]
    each: str | None
    workspaces: Mapping[str, CheckedCall] = field(default_factory=dict)
    upcast: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """An operator, its parameters' kinds, and its cases."""

    operator: Operator
    entry: Entry
    kinds: Mapping[str, str | None]
    cases: tuple[CheckedCase, ...]


@dataclass(frozen=True)
class Checked:
    """The entries without errors, and the findings about all other entries."""

    library: Library
    entries: tuple[CheckedEntry, ...]
    findings: tuple[Finding, ...]


def check(data: Data) -> Checked:
    """Check all entries; an entry with an error is left out and has a finding."""
    schema = load_schema()
    findings = [
        *data.findings,
        *_sizing_findings(data.library),
        *_format_findings(data.library),
    ]
    entries = []
    for entry in data.entries:
        try:
            operator = _operator(entry, schema)
        except DataError as error:
            findings.append(error.finding)
            continue
        checker = _Checker(data.library, operator)
        checked = checker.entry(entry)
        findings += checker.findings
        if checked is not None:
            entries.append(checked)
    return Checked(data.library, tuple(entries), tuple(findings))


def _sizing_findings(library: Library) -> list[Finding]:
    """Return findings about the functions that return the sizes of workspaces."""
    found = []
    for function in library.functions.values():
        if not function.workspace:
            continue
        reason = ""
        if library.shape != "handle_descriptors":
            reason = "only functions of the shape handle_descriptors have a workspace"
        elif function.workspace not in library.functions:
            hint = close_names(function.workspace, library.functions)
            reason = (
                f"its workspace is sized by {function.workspace}, which is not in the table{hint}; "
                "correct the name, or add the function"
            )
        else:
            try:
                sizing_positions(library, function)
            except ValueError as error:
                reason = str(error)
        if reason:
            found.append(Finding(_place(library, function), function.name, reason))
    return found


def _place(library: Library, function: Function) -> Place:
    """Return where the signature table describes a function."""
    return Place(f"{library.shown}/{Path(library.table).name}", function.line)


def _format_findings(library: Library) -> list[Finding]:
    """Return findings about documented formats that library.yaml does not number."""
    return [
        Finding(
            _place(library, function),
            f"{function.name}, argument {argument.name}",
            f"{name!r} is not in the table of formats{close_names(name, library.formats)}; correct "
            "the name, or add it to 'formats' of library.yaml",
        )
        for function in library.functions.values()
        for argument in function.arguments
        for name in argument.formats
        if name not in library.formats
    ]


def _operator(entry: Entry, schema: Mapping[str, Operator]) -> Operator:
    operator = schema.get(entry.name)
    if operator is None:
        hint = close_names(entry.name, schema)
        raise DataError(
            entry.where,
            entry.name,
            f"is not an operator of the contract{hint}; correct the name, or remove the entry "
            "(docs/operators.md of dl-diopi-proto lists the operators)",
        )
    if operator.family != entry.family:
        raise DataError(
            entry.where,
            entry.name,
            f"belongs to the family {operator.family}; move it to operators/{operator.family}.yaml",
        )
    return operator


class _Checker:
    """Check of one operator."""

    def __init__(self, library: Library, operator: Operator) -> None:
        self._library = library
        self._operator = operator
        self._parameters = operator.params[1:]
        self._kinds = {p.name: kind_of(p) for p in self._parameters}
        # Names that the current case uses and writes.
        self._used: set[str] = set()
        self._written: set[str] = set()
        self._dtype_of: dict[str, str] = {}  # temporaries whose dtype is known
        self.findings: list[Finding] = []

    def entry(self, entry: Entry) -> CheckedEntry | None:
        cases = []
        for case in entry.cases:
            try:
                cases.append(self._case(case))
            except DataError as error:
                self.findings.append(error.finding)
        if self.findings:
            return None
        return CheckedEntry(self._operator, entry, self._kinds, tuple(cases))

    def _names(self) -> dict[str, Lowered]:
        found = {}
        for p in self._parameters:
            kind = self._kinds[p.name]
            if kind is None:
                continue
            roots = frozenset((p.name,)) if kind in ("tensor", "tensors", "slot") else frozenset()
            nullable = p.nullable or kind.startswith("optional_")
            found[p.name] = Lowered(kind, p.name, nullable, roots)
        return found

    def _case(self, case: Case) -> CheckedCase:
        subject = f"{self._operator.name}, case {case.number}"
        self._used, self._written = set(), set()
        scope = Scope(self._names(), {}, self._library.helpers, used=self._used)
        when, each = None, None
        if case.when is not None:
            condition = self._guard(case.when, subject, partial(parse, case.when.text))
            scope = scope.with_present(present_if(condition))
            when = self._guard(case.when, subject, partial(lower_condition, condition, scope))
        for text in case.unused:
            if text.text not in self._kinds:
                reason = self._unknown(text.text, "a parameter", self._kinds)
                raise DataError(text.where, subject, f"unused: {reason}")
            self._used.add(text.text)
        if case.function:
            self._used |= set(self._kinds)
            return CheckedCase(
                case, when, self._needs(case, subject), self._dtypes(case, subject), (), (), None
            )
        if case.each is not None:
            each = self._each(case.each, subject, scope)
            scope = replace(scope, names={**scope.names, "i": Lowered("int", "i")})
        self._formats(case, subject)
        for text in case.contiguous:
            self._check_tensor("contiguous", text.text, text.where, subject)
        for text in case.upcast:
            self._check_tensor("upcast", text.text, text.where, subject, ("tensor",))
        temporaries: list[tuple[str, str]] = []
        for name, text in case.temporaries.items():
            made = self._temporary(text, f"{subject}, temporary ${name}", scope)
            temporaries.append((name, made))
            known = Lowered("tensor", f"tmp_{name}", False, frozenset((f"${name}",)))
            literal = text.text.split(" ", 1)[0]
            if literal in DTYPES:
                self._dtype_of[f"${name}"] = literal
            scope = replace(scope, temporaries={**scope.temporaries, name: known})
        calls = tuple(self._call(text, subject, scope) for text in case.calls)
        workspaces = {
            name: self._workspace(name, text, subject, calls, scope)
            for name, text in case.workspaces.items()
        }
        unneeded = {text.text for text in case.unused}
        required = [x for x in required_outputs(self._operator) if x not in unneeded]
        missing = [x for x in required if x not in self._written]
        if missing:
            raise DataError(
                case.where, subject, f"the output {missing[0]} is not written by any call"
            )
        unused = [x for x in case.temporaries if f"${x}" not in self._written]
        if unused:
            where = case.temporaries[unused[0]].where
            raise DataError(
                where, subject, f"the temporary ${unused[0]} is never written; remove it"
            )
        self._check_unused(case, subject)
        return CheckedCase(
            case,
            when,
            self._needs(case, subject),
            self._dtypes(case, subject),
            tuple(temporaries),
            calls,
            each,
            workspaces,
            {text.text: text.text in self._written for text in case.upcast},
        )

    def _workspace(
        self,
        name: str,
        text: Text,
        subject: str,
        calls: tuple[CheckedCall, ...],
        scope: Scope,
    ) -> CheckedCall:
        """Return the call of a function, or the code of a helper, that gives a size."""
        functions = [x.function.name for x in calls if x.function is not None]
        if name and name not in functions:
            hint = close_names(name, functions)
            raise DataError(
                text.where,
                subject,
                f"workspace: {name} is not called{hint}; name a function of the case's calls, "
                f"which are {', '.join(functions)}",
            )
        if not name and (len(calls) != 1 or len(functions) != 1):
            raise DataError(
                text.where,
                subject,
                "workspace: one size needs a case with one call; for several calls, write a "
                "mapping from the function to the size",
            )
        step = self._guard(text, subject, partial(parse_step, text.text))
        if not step.call.helper:
            sizing = self._call(text, f"{subject}, workspace", scope)
            self._check_sizing(text, subject, sizing)
            return sizing
        size = self._guard(text, subject, lambda: lower(step.call, scope))
        if size.kind != "int":
            raise DataError(
                text.where, subject, f"workspace: @{step.call.function} does not return an int"
            )
        return CheckedCall(None, (size.code,), None)

    def _check_sizing(self, text: Text, subject: str, sizing: CheckedCall) -> None:
        kinds = [
            self._library.kind(x.type)
            for x in (sizing.function.arguments if sizing.function is not None else ())
        ]
        if "workspace_result" not in kinds:
            raise DataError(
                text.where, subject, "workspace: the function has no argument for the size"
            )

    def _guard(self, text: Text, subject: str, work: Callable[[], _T]) -> _T:
        """Run ``work`` and turn an ExpressionError into a finding with the place of its column."""
        try:
            return work()
        except ExpressionError as error:
            where = Place(text.where.file, text.where.line, text.where.column + error.column)
            part = text.text[error.column : error.column + 24]
            near = f" (at {part!r})" if part and part != text.text else ""
            raise DataError(where, subject, f"{text.text!r}: {error}{near}") from error

    def _needs(self, case: Case, subject: str) -> tuple[str, ...]:
        for text in case.needs:
            self._function(text.text, text.where, subject)
        return tuple(text.text for text in case.needs)

    def _function(self, name: str, where: Place, subject: str) -> Function:
        function = self._library.functions.get(name)
        if function is None:
            hint = close_names(name, self._library.functions)
            raise DataError(
                where,
                subject,
                f"{name} is not in the signature table{hint}; correct the name, or add the "
                f"function to {self._library.table}",
            )
        return function

    def _unknown(self, name: str, what: str, known: Iterable[str]) -> str:
        """Return the reason why a name is not one of the known parameters."""
        names = list(known)
        listed = ", ".join(names) or "none"
        return f"{name!r} is not {what}{close_names(name, names)}; choose from {listed}"

    def _check_tensor(
        self,
        key: str,
        name: str,
        where: Place,
        subject: str,
        kinds: tuple[str, ...] = ("tensor", "tensors"),
    ) -> None:
        if self._kinds.get(name) not in kinds:
            known = [each for each, kind in self._kinds.items() if kind in kinds]
            raise DataError(where, subject, f"{key}: {self._unknown(name, 'a tensor', known)}")

    def _dtypes(self, case: Case, subject: str) -> Mapping[str, tuple[str, ...]]:
        for name, dtypes in case.dtypes.items():
            where = case.place("dtypes", name)
            self._check_tensor("dtypes", name, where, subject)
            for dtype in dtypes:
                if dtype not in DTYPES:
                    raise DataError(where, subject, f"dtypes: {unknown_dtype(dtype)}")
        return case.dtypes

    def _formats(self, case: Case, subject: str) -> None:
        for name, chosen in case.format.items():
            where = case.place("format", name)
            if name:
                self._check_tensor("format", name, where, subject)
            known = self._library.formats
            if chosen not in known:
                listed = f"not one of {', '.join(known)}" if known else "unknown"
                raise DataError(
                    where,
                    subject,
                    f"format: {chosen!r} is {listed}{close_names(chosen, known)}; correct the "
                    "name, or add it to 'formats' of library.yaml",
                )

    def _each(self, text: Text, subject: str, scope: Scope) -> str:
        lowered = self._guard(text, subject, lambda: lower(parse(text.text), scope))
        if lowered.kind != "int":
            raise DataError(text.where, subject, "each must be an integer: the repetitions")
        return lowered.code

    def _temporary(self, text: Text, subject: str, scope: Scope) -> str:
        def work() -> str:
            match = _TEMPORARY.fullmatch(text.text)
            if text.text.startswith("like "):
                like = self._tensor(text.text, 5, scope)
                return f"call_.temporary({NS}::dtype({like}), {NS}::shape({like}))"
            if match is None or text.text.startswith("@"):
                lowered = lower(parse(text.text), scope)
                if lowered.kind != "tensor":
                    raise ExpressionError(
                        0, "must be 'like x', 'DTYPE like x', 'DTYPE [sizes]' or a tensor"
                    )
                if lowered.roots <= set(self._kinds):
                    self._written.add(subject.rsplit("temporary ", 1)[1])
                return lowered.code
            dtype = lower(parse(match["dtype"]), scope)
            if dtype.kind != "dtype":
                raise ExpressionError(
                    0, f"{match['dtype']} is not a dtype; write float32 or dtype(x)"
                )
            rest, start = match["rest"], match.start("rest")
            if rest.startswith("like "):
                like = self._tensor(text.text, start + 5, scope)
                return f"call_.temporary({dtype.code}, {NS}::shape({like}))"
            try:
                sizes = lower(parse(rest), scope)
            except ExpressionError as error:
                raise ExpressionError(start + error.column, str(error)) from error
            if sizes.kind != "ints":
                raise ExpressionError(start, "the sizes must be a list of integers")
            return f"call_.temporary({dtype.code}, {sizes.code})"

        return self._guard(text, subject, work)

    def _tensor(self, text: str, start: int, scope: Scope) -> str:
        try:
            lowered = lower(parse(text[start:]), scope)
            if lowered.kind != "tensor" or lowered.nullable:
                reason = "may be NULL" if lowered.nullable else "is not a tensor"
                raise ExpressionError(0, f"{text[start:]} {reason}")
        except ExpressionError as error:
            raise ExpressionError(start + error.column, str(error)) from error
        return lowered.code

    def _call(self, text: Text, subject: str, scope: Scope) -> CheckedCall:
        step = self._guard(text, subject, partial(parse_step, text.text))
        condition = None
        if step.condition is not None:
            scope = scope.with_present(present_if(step.condition))
            condition = self._guard(text, subject, partial(lower_condition, step.condition, scope))
        if step.call.helper:
            action = self._guard(text, subject, lambda: lower(step.call, scope))
            if action.kind != "action":
                actions = [n for n, h in self._library.helpers.items() if h.returns == "action"]
                raise DataError(
                    text.where,
                    subject,
                    f"@{step.call.function} is not an action: pass its value to a function, or "
                    f"call one of {', '.join(f'@{name}' for name in actions)}",
                )
            inner = f"{subject}, @{step.call.function}"
            self._check_read(text, inner, action.reads)
            self._check_write(text, inner, "an argument", action.roots)
            return CheckedCall(None, (action.code,), condition)
        function = self._function(step.call.function, text.where, subject)
        wanted = targets(self._library, function)
        given = step.call.arguments
        if len(given) != len(wanted):
            names = ", ".join(x.argument.name for x in wanted)
            raise DataError(
                text.where,
                subject,
                f"{function.name} takes {len(wanted)} arguments ({names}), and {len(given)} are "
                "given",
            )
        codes = tuple(
            self._argument(text, subject, function, target, expression, scope)
            for target, expression in zip(wanted, given, strict=True)
        )
        return CheckedCall(function, codes, condition)

    def _argument(
        self,
        text: Text,
        subject: str,
        function: Function,
        target: Target,
        expression: Expression,
        scope: Scope,
    ) -> str:
        inner = f"{subject}, {function.name}, argument {target.argument.name}"

        def work() -> Conversion:
            value = lower(expression, scope)
            conversion = convert(value, target, self._library)
            if isinstance(conversion, str):
                raise ExpressionError(expression.column, conversion)
            return conversion

        conversion = self._guard(text, inner, work)
        self._check_dtype(text, inner, target, conversion)
        if target.argument.needs_elements:
            self._check_read(text, inner, conversion.roots)
        if target.argument.writes:
            self._check_write(text, inner, "this argument", conversion.roots)
        return conversion.code

    def _check_write(self, text: Text, subject: str, what: str, roots: frozenset[str]) -> None:
        for root in roots:
            parameter = self._find(root)
            if parameter is not None and is_input(parameter):
                raise DataError(
                    text.where,
                    subject,
                    f"the function writes {what}, and {root} is an input of the operator",
                )
        self._written |= roots

    def _check_read(self, text: Text, subject: str, roots: frozenset[str]) -> None:
        for root in sorted(roots - self._written):
            parameter = self._find(root)
            if root.startswith("$") or (parameter is not None and parameter.direction == "out"):
                raise DataError(
                    text.where,
                    subject,
                    f"the function reads {root}, whose elements no earlier call has written",
                )

    def _check_dtype(self, text: Text, subject: str, target: Target, value: Conversion) -> None:
        documented = target.argument.dtypes
        for root in value.roots:
            dtype = self._dtype_of.get(root)
            if documented and dtype is not None and dtype not in documented:
                raise DataError(
                    text.where,
                    subject,
                    f"{root} is {dtype}, and the library documents {', '.join(documented)}",
                )

    def _find(self, name: str) -> Parameter | None:
        return next((p for p in self._parameters if p.name == name), None)

    def _check_unused(self, case: Case, subject: str) -> None:
        for p in self._parameters:
            if p.name in self._used or self._kinds[p.name] is None or p.counted_by == p.name:
                continue
            if self._operator.count_of(p.name):
                continue
            raise DataError(
                case.where,
                subject,
                f"the parameter {p.name} is not used; use it, decline its other values by a "
                "condition 'when', or list it in 'unused'",
            )
