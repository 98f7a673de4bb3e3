"""Raw samples on a common axis, one row for each thing measured, with the interval of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from .svg import WIDTH, _frame, _nice, _shortened

_ROW = 30
_RIGHT = 150


@dataclass(frozen=True)
class Samples:
    """One row.

    :ivar values: every sample, drawn as it is.
    :ivar interval: its low end, its middle and its high end; None: samples alone.
    :ivar value: text behind the row.
    """

    label: str
    values: Sequence[float]
    interval: tuple[float, float, float] | None
    value: str
    style: str = "forward"


def samples(
    rows: Sequence[Samples],
    name: str,
    reference: float | None = None,
    label: int = 310,
    width: int = WIDTH,
) -> str:
    """Rows of samples; a line stands where `reference` is.

    :param name: of the axis.
    :param label: room for the labels.
    """
    shown = [value for row in rows for value in (*row.values, *(row.interval or ()))]
    shown += [] if reference is None else [reference]
    low, high = min(shown), max(shown)
    step = _nice((high - low) or abs(high) or 1.0)
    start: float = step * math.floor(low / step)
    end: float = max(step * math.ceil(high / step), start + step)
    bottom = _ROW * len(rows) + 6

    def place(value: float) -> float:
        return label + (value - start) / (end - start) * (width - label - _RIGHT)

    drawn = []
    for at in range(round((end - start) / step) + 1):
        x = place(start + at * step)
        drawn.append(f'<path class="grid" d="M{x:.1f} 0V{bottom}"/>')
        drawn.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
            f"{start + at * step:.4g}</text>"
        )
    if reference is not None:
        drawn.append(f'<path class="limit" d="M{place(reference):.1f} 0V{bottom}"/>')
    for at, row in enumerate(rows):
        drawn += _row(row, at * _ROW + _ROW / 2 + 3, place, label, width)
    drawn.append(
        f'<text class="axis" x="{(label + width - _RIGHT) / 2}" y="{bottom + 40}" '
        f'text-anchor="middle">{escape(name)}</text>'
    )
    return _frame(width, bottom + 48, drawn)


def _row(
    row: Samples, y: float, place: Callable[[float], float], label: int, width: int
) -> list[str]:
    drawn = [
        f"<g><title>{escape(row.label)}: {escape(row.value)}</title>",
        f'<text class="name" x="{label - 10}" y="{y + 4:.1f}" text-anchor="end">'
        f"{escape(_shortened(row.label, label // 7))}</text>",
    ]
    drawn += [
        f'<circle class="{row.style}" cx="{place(value):.1f}" cy="{y:.1f}" r="3.5"/>'
        for value in row.values
    ]
    if row.interval is not None:
        low, middle, high = map(place, row.interval)
        drawn.append(
            f'<path class="second" d="M{low:.1f} {y - 7:.1f}V{y + 7:.1f}M{low:.1f} {y:.1f}'
            f"H{high:.1f}M{high:.1f} {y - 7:.1f}V{y + 7:.1f}M{middle:.1f} {y - 9:.1f}"
            f'V{y + 9:.1f}"/>'
        )
    drawn.append(
        f'<text class="value" x="{width - _RIGHT + 12}" y="{y + 4:.1f}">{escape(row.value)}</text>'
    )
    return [*drawn, "</g>"]
