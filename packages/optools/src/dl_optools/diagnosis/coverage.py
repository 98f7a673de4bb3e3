"""Checked and unchecked calls of a program. Imports no torch.

A call counts as checked if each of its results was: its return values, its in-place writes, and
that it leaves its other arguments unchanged. A result is checked by a comparison with the CPU's
float64 within the rounding bound, by its definition, or, if it is random, by the tests of
:mod:`.draws`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dl_optools.diagnosis.names import PROBE
from dl_optools.diagnosis.runs import Run, merged_counts
from dl_optools.launching.unseen_notes import unseen_calls, unseen_of


@dataclass
class Coverage:
    """Calls of a program, and which of them were checked.

    :ivar calls: number of calls of overloads that compute on the device, by name.
    :ivar checked: number of these calls that were compared, or whose draws were tested.
    :ivar partly: number of checked calls with a result that has no reference.
    :ivar dtypes: dtypes of the calls' first tensors, by name.
    :ivar signatures: operators with shapes, strides, dtypes and flags.
    :ivar unseen: calls on the device in forked processes, where no tool ran.
    :ivar gaps: reasons why something was not checked, a line each.
    """

    calls: dict[str, int] = field(default_factory=dict)
    checked: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, list[str]] = field(default_factory=dict)
    signatures: int = 0
    unseen: int = 0
    gaps: list[str] = field(default_factory=list)
    partly: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Number of the program's calls on the device."""
        return sum(self.calls.values()) + self.unseen

    def complete(self, name: str) -> int:
        """Return the number of calls of an operator whose results were all checked."""
        checked = min(self.checked.get(name, 0), self.calls.get(name, 0))
        return max(checked - self.partly.get(name, 0), 0)

    @property
    def done(self) -> int:
        """Number of calls whose results were all checked."""
        return sum(map(self.complete, self.calls))

    @property
    def share(self) -> float:
        """Share of the calls whose results were all checked, from 0 to 1."""
        return self.done / self.total if self.total else 0.0

    @property
    def missed(self) -> dict[str, int]:
        """Number of calls with an unchecked result by operator, largest first."""
        found = {name: count - self.complete(name) for name, count in self.calls.items()}
        ordered = sorted(found.items(), key=lambda each: -each[1])
        return {name: count for name, count in ordered if count}


def coverage_of(runs: list[Run]) -> Coverage:
    """Return the combined coverage of the runs: the most complete run of each operator."""
    found = Coverage()
    first = runs[0]
    probes, compares = first.reports(PROBE), first.reports("compare")
    found.calls = merged_counts(probes, "calls")
    for each in probes:
        for name, dtypes in each.found["dtypes"].items():
            found.dtypes[name] = sorted({*found.dtypes.get(name, ()), *dtypes})
    found.signatures = sum(x.found["signatures"] for x in compares)
    for run in runs:
        checked = Counter(merged_counts(run.reports(PROBE), "drawn"))
        for each in run.reports("compare"):
            for name, one in each.found["operators"].items():
                checked[name] += one["checked"]
        partly = merged_counts(run.reports("compare"), "partly")
        for name, count in checked.items():
            if count >= found.checked.get(name, 0):
                found.checked[name] = count
                found.partly[name] = partly.get(name, 0)
    found.unseen = unseen_calls(first.notes, "compare")
    found.gaps = _gaps(runs, found)
    return found


def _gaps(runs: list[Run], found: Coverage) -> list[str]:
    first = runs[0]
    gaps = [x.text() for x in unseen_of(first.notes)]
    unknown = merged_counts(first.reports(PROBE), "unknown")
    for name, count in unknown.items():
        gaps.append(f"{name}: {count} calls draw from an unknown distribution")
    # A run that was stopped has no report.
    last = runs[-1].reports("compare") or first.reports("compare")
    reasons: Counter[tuple[str, str]] = Counter()
    parts: Counter[tuple[str, str]] = Counter()
    for each in last:
        for name, reason, count in each.found["not_comparable"]:
            reasons[name, reason] += count
        for name, what, count in each.found["unjudged"]:
            parts[name, what] += count
    for (name, reason), count in reasons.items():
        gaps.append(f"{name}: {count} calls without a reference: {reason}")
    for (name, what), count in parts.items():
        gaps.append(f"{name}: {count} calls partly checked: {what}")
    for name, count in merged_counts(last, "dropped").items():
        gaps.append(f"{name}: {count} calls not checked because memory was full")
    known = {*found.checked, *unknown, *(name for name, _ in reasons)}
    rest = [name for name in found.calls if name not in known]
    if rest:
        gaps.append(f"never judged: {', '.join(sorted(rest))}")
    return gaps
