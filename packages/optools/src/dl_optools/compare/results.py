"""What autocompare found: failures, and a line for each operator."""

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
"""Failures kept as objects; further ones are counted, and stand in the CSV file."""

_REASONS = {
    "new": "as the first of their signature",
    "again": "by turns",
    "values": "for values of a new kind",
    "time": "because there was time",
}
"""By :class:`.Pick`."""

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
"""Of the CSV file; ``atol`` and ``rtol`` are empty where the rounding bound counts."""


@dataclass
class OperatorSummary:
    """All checked calls of one operator together; worst values over all of them."""

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
    """Filled by several threads; read it after the tool has stopped, or any time for an overview.

    :ivar device: type of the device that was looked at; empty: the tool has not started.
    :ivar calls: calls of operators that have a reference.
    :ivar seen: the same by operator.
    :ivar checked: comparisons: of a call, or of the gradients of one.
    :ivar signatures: different operators, shapes, strides, dtypes and flags among the calls.
    :ivar picks: how many calls were compared for which reason, and skipped; see :class:`.Pick`.
    :ivar spending: what watching cost, and how many steps were; None: the tool runs still.
    :ivar dropped: calls whose turn had come, but for which there was no room.
    :ivar not_comparable: ``(operator, reason)`` and how often.
    :ivar unjudged: ``(operator, what)`` and how often: results of compared calls without reference.
    :ivar partly: by operator, compared calls with such a result.
    :ivar failures: wrong calls, in the order of being found.
    :ivar bundles: of the first wrong call, by operator.
    :ivar no_bundle: why there is none, by operator.
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
        """Count one outcome; True for the first failure of its operator."""
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
        """Names of the operators that were wrong, the first one found first."""
        return list(dict.fromkeys(failure.name for failure in self.failures))

    def text(self) -> str:
        """The overview: counts, operators with failures first, the first failure of each."""
        where = f" on {self.device}" if self.device else ""
        counts = f"({self.calls} calls of {self.signatures} signatures{where})"
        lines = [
            f"autocompare: {self.failed} of {self.checked} comparisons found a wrong result "
            + counts
            if self.checked
            else f"autocompare: nothing was compared {counts}: no operator with a reference ran on "
            "the device that is looked at"
        ]
        lines += [f"  {self.coverage()}"] if self.picks else []
        if self.dropped:
            lines.append(f"  {self.dropped.total()} calls were not checked for want of room")
        for (name, reason), count in self.not_comparable.most_common(10):
            lines.append(f"  {name}: {count} without a reference: {reason}")
        for (name, what), count in self.unjudged.most_common(10):
            lines.append(f"  {name}: {count} checked but for a part: {what}")
        # Those that are right would hide those that are not.
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
                f"  {len(self.operators) - len(rows)} other operators were right: in the files"
            )
        told: set[str] = set()
        for failure in self.failures:
            if failure.name not in told:
                told.add(failure.name)
                lines.append(self.describe(failure))
        return "\n".join(lines) + "\n"

    def coverage(self) -> str:
        """Which calls were looked at, and why, in a sentence."""
        total = sum(self.picks.values())
        parts = [f"{n} {_REASONS[why]}" for why, n in self.picks.items() if why in _REASONS and n]
        looked = total - self.picks.get("skip", 0)
        text = f"looked at {looked} of {total} calls: {', '.join(parts)}"
        spending = self.spending
        if spending is not None and spending.measured < spending.steps:
            text += f"; in {spending}; the other steps were not looked at"
        return text

    def as_json(self) -> dict[str, Any]:
        """Counts, operators, and the first failure of each; numbers that are none are null."""
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
        """One wrong call: which, where in the program, what is wrong, and its operator's bundle."""
        lines = [_described(found)]
        if found.name in self.bundles:
            lines.append(f"    dl replay {self.bundles[found.name]} --check")
        elif found.name in self.no_bundle:
            lines.append(f"    no bundle: {self.no_bundle[found.name]}")
        return "\n".join(lines)


def _number(value: float) -> float | str | None:
    return None if math.isnan(value) else str(value) if math.isinf(value) else value


def _described(found: CallComparison) -> str:
    place = f" of {found.parent}" if found.parent else ""
    place += f" in {found.module}" if found.module else ""
    direction = "backward" if found.backward else "forward"
    lines = [f"{found.name} (call {found.number}, {direction}){place}:"]
    lines.extend(f"  {line}" for line in found.detail.splitlines())
    lines.extend(f"    at {frame}" for frame in found.stack[:4])
    return "\n".join(lines)


def csv_rows(found: CallComparison) -> Iterator[list[Any]]:
    """A row for each part of a call, see :data:`COLUMNS`."""
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
