"""Merging of the ranks' results by the command that started them. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from dl_core.tables import table
from dl_optools.compare.compare_page import merge_ranks, to_float
from dl_optools.launching.reports import Report

SLOW = 1.1
"""A rank whose steps take this multiple of the median is a straggler."""


def working_reports(reports: Sequence[Report]) -> list[Report]:
    """Return the reports of processes that called operators, unlike launchers and loaders."""
    return [x for x in reports if x.found["calls"]]


def compare_text(reports: Sequence[Report]) -> str:
    """Format the results of ``compare``: the text of a single process, or a table over several."""
    known = working_reports(reports) or list(reports[:1])
    if len(known) == 1:
        return str(known[0].found["text"])
    failed = sum(x.found["failed"] for x in known)
    checked = sum(x.found["checked"] for x in known)
    devices = ", ".join(sorted({str(x.found["device"]) for x in known if x.found.get("device")}))
    lines = [
        f"autocompare: {failed} of {checked} comparisons found a wrong result, "
        f"in {len(known)} processes{f' on {devices}' if devices else ''}:",
        table(
            ["process", "calls", "checked", "failed"],
            [
                [x.label, *(str(x.found[key]) for key in ("calls", "checked", "failed"))]
                for x in known
            ],
        ),
    ]
    lines += [f"{x.label}: {x.found['coverage']}" for x in known if x.found["coverage"]]
    operators = merge_ranks([(x.label, x.found) for x in known])
    wrong = {name: each for name, each in operators.items() if each["failed"]}
    if wrong:
        rows = [
            [
                name,
                str(each["checked"]),
                str(each["failed"]),
                f"{to_float(each['units']):.3g}",
                "all" if len(each["ranks"]) == len(known) else ", ".join(each["ranks"]),
            ]
            for name, each in wrong.items()
        ]
        lines.append(table(["operator", "checked", "failed", "x bound", "wrong on"], rows))
    for name in wrong:
        found = next(x for x in known if name in x.found["failures"])
        lines.append(f"{found.label}: {found.found['failures'][name]}")
    seen = {x.label: set(x.found["seen"]) for x in known}
    common = set.intersection(*seen.values())
    for label, names in seen.items():
        if own := sorted(names - common):
            more = f" and {len(own) - 5} more" if len(own) > 5 else ""
            lines.append(f"not on all ranks: {label} also called {', '.join(own[:5])}{more}")
    return "\n".join(lines) + "\n"


def time_text(reports: Sequence[Report]) -> str:
    """Describe how ranks differ in time; empty for a single process."""
    known = working_reports(reports)
    if len(known) < 2:
        return ""
    # Steps of ranks that wait for each other are equally long: the one that works longest is slow.
    step_median = median(float(x.found["step"]) for x in known)
    work_median = median(map(_work, known))
    rows = []
    for each in known:
        mine, work = float(each.found["step"]), _work(each)
        times = mine / step_median if step_median else 1.0
        late = times >= SLOW or (
            work >= SLOW * work_median and work - work_median >= (SLOW - 1) * step_median
        )
        slowest = max(
            each.found["operators"].items(),
            key=lambda item: item[1] - min(x.found["operators"].get(item[0], 0.0) for x in known),
            default=("", 0.0),
        )
        note = "straggler" if late else ""
        rows.append(
            [each.label, f"{mine * 1e3:.3f}", f"{times:.2f}", f"{work * 1e3:.3f}", note, slowest[0]]
        )
    heads = ["process", "ms/step", "x median", "ms of operators", "", "operator that differs most"]
    return table(heads, rows) + "\n"


def _work(report: Report) -> float:
    """Return the seconds per step in operators, without communication, which waits for ranks."""
    operators: dict[str, float] = report.found["operators"]
    return sum(x for name, x in operators.items() if not name.startswith("c10d."))


def seconds_of(reports: Sequence[Report]) -> dict[str, dict[str, Any]]:
    """Return ``seconds`` per step and ``share`` of each operator, on the slowest rank."""
    found: dict[str, dict[str, Any]] = {}
    for each in reports:
        step = float(each.found["step"])
        for name, seconds in each.found["operators"].items():
            if seconds >= found.get(name, {"seconds": -1.0})["seconds"]:
                share = seconds / step if step else 0.0
                found[name] = {"seconds": seconds, "share": share}
    return found


def overflow_text(reports: Sequence[Report]) -> str:
    """List the ranks with nan or inf; empty for a single process."""
    known = working_reports(reports)
    if len(known) < 2:
        return ""
    rows = [
        [x.label, str(x.found["tensors"]), str(x.found["bad"]), x.found["first"] or "-"]
        for x in known
    ]
    return table(["process", "tensors", "with nan or inf", "first made by"], rows) + "\n"


def format_stayed(names: Iterable[str]) -> list[str]:
    """Return a line for each operator that was named to fall back and cannot."""
    return [
        f"fallback: {name} ran on the device: the CPU has no implementation of it"
        for name in sorted(names)
    ]
