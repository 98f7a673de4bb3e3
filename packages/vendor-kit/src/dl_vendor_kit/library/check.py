"""Check of the operators' cases against the contract's schema and the signature table.

The result is the C++ code of each part, from which
:mod:`dl_vendor_kit.library.emit` writes functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from diopi_proto.schema import DTYPES, Operator
from diopi_proto.schema import load as load_schema

from .calls import check_call, check_workspace
from .case_state import CaseState, guard, unknown_name
from .checked import Checked, CheckedCase, CheckedEntry
from .conditions import check_condition
from .expressions import parse
from .library_check import library_findings
from .library_file import unknown_dtype
from .located import MOST_FINDINGS, DataError, Finding, close_names, quote
from .lower import lower, present_if
from .lowered import Lowered, Scope
from .model import Case, Data, Entry, Library, Text
from .parameters import required_outputs
from .temporaries import check_temporary


def check(data: Data) -> Checked:
    """Check all entries; an entry with an error is left out and has a finding."""
    schema = load_schema()
    findings = [*data.findings, *library_findings(data.library)]
    if not data.entries and not data.findings:
        where = data.library.where
        message = "no operator is described; add operators/FAMILY.yaml with an operator"
        findings.append(Finding(where, "operators", message))
    entries = []
    for entry in data.entries:
        if len(findings) >= MOST_FINDINGS:
            break
        try:
            operator = _operator(entry, schema)
        except DataError as error:
            findings.append(error.finding)
            continue
        checked, found = _entry(data.library, operator, entry)
        findings += found
        if checked is not None:
            entries.append(checked)
    return Checked(data.library, tuple(entries), tuple(findings))


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


def _entry(
    library: Library, operator: Operator, entry: Entry
) -> tuple[CheckedEntry | None, list[Finding]]:
    """Return the checked operator, or None and the findings about its cases."""
    cases = []
    findings = []
    for case in entry.cases:
        try:
            cases.append(_case(CaseState(library, operator), case))
        except DataError as error:
            findings.append(error.finding)
    if findings:
        return None, findings
    return CheckedEntry(operator, entry, CaseState(library, operator).kinds, tuple(cases)), []


def _case(state: CaseState, case: Case) -> CheckedCase:
    subject = f"{state.operator.name}, case {case.number}"
    scope = Scope(state.names(), {}, state.library.helpers, used=state.used)
    when, each = None, None
    if case.when is not None:
        condition = guard(case.when, subject, partial(parse, case.when.text))
        scope = scope.with_present(present_if(condition))
        when = guard(case.when, subject, partial(check_condition, state, condition, scope))
    needs = _needs(state, case, subject)
    dtypes = _dtypes(state, case, subject)
    if case.function:
        return CheckedCase(case, when, needs, dtypes, (), (), None)
    if case.each is not None:
        each = _each(case.each, subject, scope)
        scope = replace(scope, names={**scope.names, "i": Lowered("int", "i")})
        state.repeats = True
    _formats(state, case, subject)
    for text in case.contiguous:
        state.check_tensor("contiguous", text.text, text.where, subject)
    for text in case.upcast:
        state.check_tensor("upcast", text.text, text.where, subject, ("tensor",))
    temporaries: list[tuple[str, str]] = []
    for name, text in case.temporaries.items():
        inner = f"{subject}, temporary ${name}"
        made, value = check_temporary(state, name, text, inner, scope)
        temporaries.append((name, made))
        scope = replace(scope, temporaries={**scope.temporaries, name: value})
    calls = tuple(check_call(state, text, subject, scope) for text in case.calls)
    workspaces = {
        name: check_workspace(state, name, text, subject, calls, scope)
        for name, text in case.workspaces.items()
    }
    if case.each is not None and "i" not in state.used:
        raise DataError(
            case.each.where,
            subject,
            "each: the calls do not use i, so that all repetitions are the same; use it, or remove "
            "'each'",
        )
    unused = _unused(state, case, subject)
    _check_written(state, case, subject, unused)
    _check_used(state, case, subject, unused)
    return CheckedCase(
        case,
        when,
        needs,
        dtypes,
        tuple(temporaries),
        calls,
        each,
        workspaces,
        {text.text: text.text in state.writes for text in case.upcast},
    )


def _needs(state: CaseState, case: Case, subject: str) -> tuple[str, ...]:
    for text in case.needs:
        state.function(text.text, text.where, subject)
    return tuple(text.text for text in case.needs)


def _dtypes(state: CaseState, case: Case, subject: str) -> Mapping[str, tuple[str, ...]]:
    for name, dtypes in case.dtypes.items():
        where = case.place("dtypes", name)
        state.check_tensor("dtypes", name, where, subject)
        for dtype in dtypes:
            if dtype not in DTYPES:
                raise DataError(where, subject, f"dtypes: {unknown_dtype(dtype)}")
    return case.dtypes


def _formats(state: CaseState, case: Case, subject: str) -> None:
    for name, chosen in case.format.items():
        where = case.place("format", name)
        if name:
            state.check_tensor("format", name, where, subject)
        known = state.library.formats
        if chosen not in known:
            listed = f"not one of {', '.join(known)}" if known else "unknown"
            raise DataError(
                where,
                subject,
                f"format: {quote(chosen)} is {listed}{close_names(chosen, known)}; correct the "
                "name, or add it to 'formats' of library.yaml",
            )


def _each(text: Text, subject: str, scope: Scope) -> str:
    lowered = guard(text, subject, lambda: lower(parse(text.text), scope))
    if lowered.kind != "int":
        raise DataError(
            text.where,
            subject,
            f"each must be an integer, not {lowered.kind}; write the number of repetitions, such "
            "as count(tensors)",
        )
    if lowered.constant is not None and lowered.constant < 1:
        raise DataError(
            text.where, subject, f"each is {lowered.constant}; write 1 or more, or remove it"
        )
    return lowered.code


def _unused(state: CaseState, case: Case, subject: str) -> frozenset[str]:
    """Return the parameters that the case lists as unused."""
    for text in case.unused:
        if text.text not in state.kinds:
            reason = unknown_name(text.text, "a parameter", state.kinds)
            raise DataError(text.where, subject, f"unused: {reason}")
        if text.text in state.used:
            raise DataError(
                text.where, subject, f"unused: the case uses {text.text}; remove it from 'unused'"
            )
    return frozenset(text.text for text in case.unused)


def _check_written(state: CaseState, case: Case, subject: str, unused: frozenset[str]) -> None:
    """Check that the calls write all outputs and temporaries."""
    for name in required_outputs(state.operator):
        if name not in unused and name not in state.writes:
            raise DataError(
                case.where,
                subject,
                f"the output {name} is not written by any call; add a call that writes it",
            )
        if name not in unused and state.writes.is_part(name):
            raise DataError(
                case.where,
                subject,
                f"only one part of the output {name} is written; write the rest as well",
            )
        if name not in unused and not state.writes.is_certain(name):
            raise DataError(
                case.where,
                subject,
                f"the output {name} is written only under a condition; write it under the opposite "
                "one as well, or decline by 'when'",
            )
    for name, text in case.temporaries.items():
        if f"${name}" not in state.writes:
            raise DataError(
                text.where, subject, f"the temporary ${name} is never written; remove it"
            )


def _check_used(state: CaseState, case: Case, subject: str, unused: frozenset[str]) -> None:
    """Check that the case uses all parameters that matter."""
    for p in state.parameters:
        if p.name in state.used or p.name in unused or p.counted_by == p.name:
            continue
        if state.kinds[p.name] is None or state.operator.count_of(p.name):
            continue
        raise DataError(
            case.where,
            subject,
            f"the parameter {p.name} is not used; use it, decline its other values by a "
            "condition 'when', or list it in 'unused'",
        )
