"""Results of a time measurement: rows, tables, CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dl_core.tables import table
from dl_optools.budget import Spending
from dl_optools.timing.roofline import Roofline
from dl_optools.timing.spans import Row

_SHOWN = 25
_COLUMNS = (
    "operator",
    "level",
    "direction",
    "function",
    "shapes",
    "dtypes",
    "calls",
    "total_elapsed",
    "median_elapsed",
    "self_elapsed",
    "unit",
    "share_percent",
    "gigabytes_per_second",
    "gigaflops_per_second",
    "roofline_percent",
)


@dataclass
class TimeResults:
    """Results of :class:`OpTimeMeasure`.

    :ivar rows: times by operator, shape and dtype.
    :ivar device: measured device.
    :ivar clock: name of the stopwatch.
    :ivar steps: number of measured steps in ``rows``.
    :ivar seconds: time of the measured steps.
    :ivar cold: only the first step was measured, including one-time work.
    :ivar left_out: calls after the last step, or beyond the limit of the files.
    """

    rows: list[Row] = field(default_factory=list)
    device: str = ""
    clock: str = ""
    steps: int = 0
    seconds: float = 0.0
    cold: bool = False
    spending: Spending | None = None
    left_out: int = 0
    roofline: Roofline | None = None

    def share(self, seconds: float) -> float:
        """Return the share of the time of the measured steps, 0 to 1."""
        return seconds / self.seconds if self.seconds > 0 else 0.0

    @property
    def elsewhere(self) -> float:
        """Seconds of the measured steps outside of operators: Python, autograd, data loading."""
        return max(self.seconds - sum(row.own for row in self.rows), 0.0)

    def attained_share(self, row: Row) -> float | None:
        """Return the share of the device's peak that a row reaches, 0 to 1; None if unknown."""
        if self.roofline is None or row.seconds <= 0:
            return None
        least = self.roofline.seconds(row.bytes, row.flops)
        return least / row.seconds if least else None

    def outermost(self) -> list[Row]:
        """Return rows that are not nested: most functions, and overloads without a function."""
        return [row for row in self.rows if not row.function]

    def notes(self) -> list[str]:
        """Return remarks that are needed to interpret the numbers."""
        notes = [f"{self.device}, by {self.clock}"]
        if self.spending is not None:
            notes.append(str(self.spending))
        if self.cold:
            notes.append(
                "only the first step was measured, which is cold: let it run for longer, or "
                'allow a larger budget (budget="off" measures every step)'
            )
        elif self.spending is not None and self.spending.steps > 1:
            notes.append("the first step is left out, because it is cold")
        if self.roofline is not None:
            notes += self.roofline.doubts
        above = sum((self.attained_share(row) or 0) > ABOVE for row in self.rows)
        if above:
            notes.append(
                f"{above} rows are marked '>': faster than the measured roof, because the data is "
                "in caches or the roof was measured on a busy device"
            )
        if self.left_out:
            notes.append(
                f"left out: {self.left_out} calls after the last step, or beyond the files' limit"
            )
        return notes

    def table(self, rows: int = _SHOWN) -> str:
        """Format the slowest outermost rows as text; times in milliseconds per step."""
        ranked = sorted(self.outermost(), key=lambda row: -row.typical)
        steps = max(self.steps, 1)
        lines = [
            (
                row.operator,
                row.direction,
                shapes_text(row.shapes, row.dtypes),
                f"{row.calls / steps:g}",
                f"{row.seconds / steps * 1e3:.3f}",
                f"{row.median * 1e3:.4f}",
                f"{row.own / steps * 1e3:.3f}",
                f"{self.share(row.seconds):.1%}",
                rate_text(row.bytes, row.seconds, "B"),
                rate_text(sum(row.flops.values()), row.seconds, "FLOP"),
                percent_text(self.attained_share(row)),
            )
            for row in ranked[:rows]
        ]
        headers = (
            "operator",
            "direction",
            "arguments",
            "calls/step",
            "ms/step",
            "median ms",
            "self ms/step",
            "share",
            "bandwidth",
            "rate",
            "of roofline",
        )
        text = table(headers, lines)
        if len(ranked) > rows:
            text += f"\n... and {len(ranked) - rows} more rows"
        if len(self.rows) > len(ranked):
            text += f"\n{len(self.rows) - len(ranked)} nested rows: see the files"
        text += (
            f"\na step takes {self.seconds / steps * 1e3:.3f} ms, "
            f"{self.share(self.elsewhere):.1%} of it outside of operators"
        )
        return "\n".join([text, *self.notes()])

    def write_csv(self, path: Path) -> None:
        """Write all rows; times are sums over the measured steps, in milliseconds."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS)
            for row in sorted(self.rows, key=lambda row: -row.own):
                attained = self.attained_share(row)
                known = row.seconds > 0
                flops = sum(row.flops.values())
                writer.writerow(
                    (
                        row.operator,
                        row.level,
                        row.direction,
                        row.function,
                        "; ".join(str(list(shape)) for shape in row.shapes),
                        "; ".join(row.dtypes),
                        row.calls,
                        f"{row.seconds * 1e3:.6f}",
                        f"{row.median * 1e3:.6f}",
                        f"{row.own * 1e3:.6f}",
                        "ms",
                        f"{self.share(row.own) * 100:.4f}",
                        f"{row.bytes / row.seconds / 1e9:.4f}" if known and row.bytes else "",
                        f"{flops / row.seconds / 1e9:.4f}" if known and flops else "",
                        "" if attained is None else f"{attained * 100:.2f}",
                    )
                )


_LETTERS = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
}


def shapes_text(shapes: Iterable[tuple[int, ...]], dtypes: Iterable[str], most: int = 4) -> str:
    """Format ``f32[2,3] f32[3]``; long lists are cut."""
    parts = [
        f"{_LETTERS.get(dtype, dtype)}[{','.join(map(str, shape))}]"
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    more = len(parts) - most
    return " ".join(parts[:most]) + (f" +{more}" if more > 0 else "")


def rate_text(amount: float, seconds: float, unit: str) -> str:
    """Format ``12.3 GB/s``; empty if the amount is unknown."""
    if amount <= 0 or seconds <= 0:
        return ""
    rate = amount / seconds
    for letter, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if rate >= size:
            return f"{rate / size:.3g} {letter}{unit}/s"
    return f"{rate / 1e3:.3g} k{unit}/s"


ABOVE = 1.05
"""Share of the roof above which caches, or a roof that was measured too low, must be the cause."""


def percent_text(part: float | None) -> str:
    """Format ``83%``, with the prefix ``>`` above the roof."""
    if part is None:
        return ""
    return f"{'>' if part > ABOVE else ''}{part:.0%}"
