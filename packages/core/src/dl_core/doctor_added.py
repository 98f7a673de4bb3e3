"""Examination of the operators that plugins add to vendors, for ``dl doctor``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import diopi_proto
from diopi_proto.schema import load
from diopi_proto.trial import try_library
from dl_core.added import (
    Addition,
    describe_mismatched,
    describe_ties,
    describe_unknown,
    missing_file,
)


@dataclass(frozen=True)
class AddedReport:
    """A library with added operators: its wheel's declaration and the library's answers."""

    name: str
    plugin: str
    wheel: str
    vendor: str
    library: str
    priority: int
    present: bool | None
    """Result of its presence check; None if it has none."""
    version: str = ""
    operators: list[str] = field(default_factory=list)
    """Operators that it has for devices of any kind; the library chooses among them for each."""
    mismatched: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    """Visible devices of the vendor."""
    error: str = ""


def examine_added(
    additions: Iterable[tuple[Addition, bool | None]],
    visible: Iterable[tuple[str, str]],
    timeout: float,
) -> tuple[list[AddedReport], list[str]]:
    """Try each library in a child process; return the reports, and sentences about problems.

    :param additions: additions in the order in which they are called, and the results of their
        presence checks.
    :param visible: visible devices, as (``"dl:0"``, vendor).
    :param timeout: seconds for a trial.
    """
    devices: dict[str, list[str]] = {}
    for device, vendor in visible:
        devices.setdefault(vendor, []).append(device)
    reports: list[AddedReport] = []
    problems: list[str] = []
    called: dict[tuple[str, str], list[Addition]] = {}
    for addition, present in additions:
        report = _report(addition, present, devices.get(addition.added.vendor, []), timeout)
        reports.append(report)
        if present is False:
            continue
        problems += _problems(addition, report)
        for name in report.operators:
            called.setdefault((report.vendor, name), []).append(addition)
    for vendor in dict.fromkeys(vendor for vendor, _ in called):
        problems += describe_ties({n: list(a) for (v, n), a in called.items() if v == vendor})
    return reports, problems


def _report(
    addition: Addition, present: bool | None, devices: list[str], timeout: float
) -> AddedReport:
    added = addition.added
    declared = (added.name, addition.record.name, addition.record.wheel, added.vendor)
    facts = (*declared, str(added.library), added.priority, present)
    if error := missing_file(addition):
        return AddedReport(*facts, error=error)
    try:
        trial = try_library(added.library, added_to=added.vendor, timeout=timeout)
        trial.check()
    except diopi_proto.DiopiError as failure:
        return AddedReport(*facts, error=str(failure))
    if trial.refusal:
        return AddedReport(*facts, error=trial.refusal)
    schema = load()
    bound = [
        name
        for name, mark in trial.operators.items()
        if name in schema and schema[name].fingerprint == mark
    ]
    return AddedReport(
        *facts,
        version=trial.version,
        operators=bound,
        mismatched=trial.mismatched,
        unknown=trial.unknown,
        devices=devices,
    )


def _problems(addition: Addition, report: AddedReport) -> Sequence[str]:
    found = []
    if report.error:
        found.append(addition.describe_omission(report.error))
    if report.mismatched:
        found.append(describe_mismatched(addition, report.mismatched))
    if report.unknown:
        found.append(describe_unknown(addition, report.unknown, load()))
    return found
