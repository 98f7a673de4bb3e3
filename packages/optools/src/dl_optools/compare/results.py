"""Results of autocompare: failures, and a summary for each operator."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dl_core.tables import table
from dl_optools.budget import Spending
from dl_optools.compare.call_comparison import CallComparison, nan_first

KEPT_FAILURES = 1000
"""Maximum number of failures kept as objects; more are counted, and written to the CSV file."""

_REASONS = {
    "new": "as the first of their signature",
    "again": "as periodic samples",
    "values": "for values of a new kind",
    "time": "because time was left",
}
"""Reasons by :class:`.Pick`."""

COLUMNS = (
    "forward_id",
    "name",
    "allclose",
    "cosine_similarity",
    "max_abs_diff",
    "max_relative_diff",
    "atol",
    "rtol",
    "error_info",
    "units_of_bound",
    "output",
    "pass",
    "function",
    "module",
    "stack",
)
"""Columns of the CSV file; ``atol`` and ``rtol`` are empty if the rounding bound applies."""


@dataclass
class OperatorSummary:
    """Totals of all checked calls of one operator, with the largest errors."""

    name: str
    checked: int = 0
    failed: int = 0
    units: float = math.nan
    max_abs: float = math.nan
    max_rel: float = math.nan
    cosine: float = math.nan

    def add(self, found: CallComparison) -> None:
        self.checked += 1
        self.failed += not found.ok
        self.units = max(self.units, found.units, key=nan_first)
        self.max_abs = max(self.max_abs, found.max_abs, key=nan_first)
        self.max_rel = max(self.max_rel, found.max_rel, key=nan_first)
        if not math.isnan(found.cosine):
            self.cosine = min(found.cosine, 1.0 if math.isnan(self.cosine) else self.cosine)


class AutoCompareResults:
    """Results of a tool, filled by several threads; complete after the tool has stopped.

    :ivar device: type of the examined device; empty: the tool has not started.
    :ivar calls: calls of operators that have a reference.
    :ivar seen: number of these calls by operator.
    :ivar checked: comparisons, each of a call or of a call's gradients.
    :ivar signatures: distinct operators, shapes, strides, dtypes and flags among the calls.
    :ivar picks: number of calls by the reason why they were compared or skipped; see
        :class:`.Pick`.
    :ivar spending: cost of checking, and number of steps; None: the tool is still running.
    :ivar dropped: sampled calls that were dropped because memory was full.
    :ivar not_comparable: ``(operator, reason)`` and count.
    :ivar unjudged: ``(operator, what)`` and count: results of compared calls without reference.
    :ivar partly: by operator, compared calls with such a result.
    :ivar failures: wrong calls, in the order of detection.
    :ivar bundles: path of the first wrong call's bundle, by operator.
    :ivar no_bundle: reason for a missing bundle, by operator.
    """

    def __init__(self, device: str = "") -> None:
        self.device = device
        self.calls = 0
        self.signatures = 0
        self.seen: Counter[str] = Counter()
        self.picks: dict[str, int] = {}
        self.spending: Spending | None = None
        self.checked = 0
        self.failed = 0
        self.dropped: Counter[str] = Counter()
        self.not_comparable: Counter[tuple[str, str]] = Counter()
        self.unjudged: Counter[tuple[str, str]] = Counter()
        self.partly: Counter[str] = Counter()
        self.failures: list[CallComparison] = []
        self.operators: dict[str, OperatorSummary] = {}
        self.bundles: dict[str, Path] = {}
        self.no_bundle: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, found: CallComparison) -> bool:
        """Count one outcome; return True for the first failure of its operator."""
        with self._lock:
            if found.reason:
                self.not_comparable[found.name, found.reason] += 1
                return False
            self.checked += 1
            self.partly[found.name] += bool(found.unjudged)
            for what in found.unjudged:
                self.unjudged[found.name, what] += 1
            summary = self.operators.setdefault(found.name, OperatorSummary(found.name))
            summary.add(found)
            if found.ok:
                return False
            self.failed += 1
            if len(self.failures) < KEPT_FAILURES:
                self.failures.append(found)
            return summary.failed == 1

    def count_dropped(self, name: str) -> None:
        with self._lock:
            self.dropped[name] += 1

    def count_not_comparable(self, name: str, reason: str) -> None:
        with self._lock:
            self.not_comparable[name, reason] += 1

    @property
    def guilty(self) -> list[str]:
        """Names of the operators that were wrong, in the order of detection."""
        return list(dict.fromkeys(failure.name for failure in self.failures))

    def text(self) -> str:
        """Format a summary: counts, failed operators first, the first failure of each."""
        where = f" on {self.device}" if self.device else ""
        counts = f"({self.calls} calls of {self.signatures} signatures{where})"
        lines = [
            f"autocompare: {self.failed} of {self.checked} comparisons found a wrong result "
            + counts
            if self.checked
            else f"autocompare: nothing was compared {counts}: no operator with a reference ran on "
            "the examined device"
        ]
        lines += [f"  {self.coverage()}"] if self.picks else []
        if self.dropped:
            lines.append(f"  {self.dropped.total()} calls were not checked because memory was full")
        for (name, reason), count in self.not_comparable.most_common(10):
            lines.append(f"  {name}: {count} without a reference: {reason}")
        for (name, what), count in self.unjudged.most_common(10):
            lines.append(f"  {name}: {count} partly checked: {what}")
        # Correct operators would hide the wrong ones.
        shown = [x for x in self.operators.values() if x.failed] or [*self.operators.values()]
        rows = [
            [
                each.name,
                str(each.checked),
                str(each.failed),
                f"{each.units:.3g}",
                f"{each.max_abs:.3g}",
                f"{each.max_rel:.3g}",
                f"{each.cosine:.9g}",
            ]
            for each in sorted(shown, key=lambda x: (-x.failed, x.name))
        ]
        if rows:
            heads = ["operator", "checked", "failed", "x bound", "max abs", "max rel", "cosine"]
            lines.append(table(heads, rows))
        if len(self.operators) > len(rows):
            lines.append(
                f"  {len(self.operators) - len(rows)} other operators were right: see the files"
            )
        described: set[str] = set()
        for failure in self.failures:
            if failure.name not in described:
                described.add(failure.name)
                lines.append(self.describe(failure))
        return "\n".join(lines) + "\n"

    def coverage(self) -> str:
        """Describe which calls were compared, and why, in a sentence."""
        total = sum(self.picks.values())
        parts = [f"{n} {_REASONS[why]}" for why, n in self.picks.items() if why in _REASONS and n]
        looked = total - self.picks.get("skip", 0)
        text = f"compared {looked} of {total} calls: {', '.join(parts)}"
        spending = self.spending
        if spending is not None and spending.measured < spending.steps:
            text += f"; in {spending}; the other steps were skipped"
        return text

    def as_json(self) -> dict[str, Any]:
        """Return counts, operators, and the first failure of each; missing numbers are null."""
        first: dict[str, CallComparison] = {}
        for failure in self.failures:
            first.setdefault(failure.name, failure)
        return {
            "device": self.device,
            "calls": self.calls,
            "signatures": self.signatures,
            "checked": self.checked,
            "failed": self.failed,
            "coverage": self.coverage() if self.picks else "",
            "dropped": dict(self.dropped),
            "not_comparable": [[*key, count] for key, count in self.not_comparable.items()],
            "partly": {name: count for name, count in self.partly.items() if count},
            "unjudged": [[*key, count] for key, count in self.unjudged.items()],
            "seen": dict(self.seen),
            "operators": {
                each.name: {
                    "checked": each.checked,
                    "failed": each.failed,
                    "units": _number(each.units),
                    "max_abs": _number(each.max_abs),
                    "max_rel": _number(each.max_rel),
                }
                for each in self.operators.values()
            },
            "failures": {name: self.describe(found) for name, found in first.items()},
            "bundles": {name: str(path) for name, path in self.bundles.items()},
        }

    def describe(self, found: CallComparison) -> str:
        """Describe a wrong call: where in the program, what is wrong, and its operator's bundle."""
        lines = [_describe_call(found)]
        if found.name in self.bundles:
            lines.append(f"    dl replay {self.bundles[found.name]} --check")
        elif found.name in self.no_bundle:
            lines.append(f"    no bundle: {self.no_bundle[found.name]}")
        return "\n".join(lines)


def _number(value: float) -> float | str | None:
    return None if math.isnan(value) else str(value) if math.isinf(value) else value


def _describe_call(found: CallComparison) -> str:
    place = f" of {found.parent}" if found.parent else ""
    place += f" in {found.module}" if found.module else ""
    direction = "backward" if found.backward else "forward"
    lines = [f"{found.name} (call {found.number}, {direction}){place}:"]
    lines.extend(f"  {line}" for line in found.detail.splitlines())
    lines.extend(f"    at {frame}" for frame in found.stack[:4])
    return "\n".join(lines)


def csv_rows(found: CallComparison) -> Iterator[list[Any]]:
    """Yield a row for each part of a call, see :data:`COLUMNS`."""
    for part in found.parts:
        atol, rtol = ("", "") if part.tolerance is None else part.tolerance
        yield [
            found.number,
            found.name,
            part.ok,
            part.cosine,
            part.max_abs,
            part.max_rel,
            atol,
            rtol,
            " ".join(part.detail.split()),
            part.units,
            part.output,
            "backward" if found.backward else "forward",
            found.parent,
            found.module,
            " < ".join(map(str, found.stack)),
        ]
