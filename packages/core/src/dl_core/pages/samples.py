"""Raw samples on a common axis, one row per measurement, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from .labels import shortened
from .svg import WIDTH, frame, responsive, round_step, row_label

_ROW = 30
_RIGHT, _NARROW_RIGHT = 150, 130


@dataclass(frozen=True)
class Samples:
    """One row.

    :ivar values: every sample, drawn as it is.
    :ivar interval: low end, middle and high end; None: samples only.
    :ivar value: text after the row.
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
) -> str:
    """Draw rows of samples and a line at the reference.

    :param name: name of the axis.
    :param label: width of the labels; narrow windows show them above the rows.
    """
    return responsive(lambda width: _samples(rows, name, reference, label, width))


def _samples(
    rows: Sequence[Samples], name: str, reference: float | None, label: int, width: int
) -> str:
    stacked = width < WIDTH
    left, right = (14, _NARROW_RIGHT) if stacked else (label, _RIGHT)
    row_height = 2 * _ROW - 8 if stacked else _ROW
    names = shortened([row.label for row in rows], (width if stacked else label) // 7)
    shown = [value for row in rows for value in (*row.values, *(row.interval or ()))]
    shown += [] if reference is None else [reference]
    low, high = min(shown), max(shown)
    step = round_step((high - low) or abs(high) or 1.0)
    start: float = step * math.floor(low / step)
    end: float = max(step * math.ceil(high / step), start + step)
    bottom = row_height * len(rows) + 6
    every = 2 if stacked else 1

    def place(value: float) -> float:
        return left + (value - start) / (end - start) * (width - left - right)

    drawn = []
    for at in range(0, round((end - start) / step) + 1, every):
        x = place(start + at * step)
        drawn.append(f'<path class="grid" d="M{x:.1f} 0V{bottom}"/>')
        drawn.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
            f"{start + at * step:.4g}</text>"
        )
    if reference is not None:
        drawn.append(f'<path class="limit" d="M{place(reference):.1f} 0V{bottom}"/>')
    for at, (row, shown_name) in enumerate(zip(rows, names, strict=True)):
        top = at * row_height
        drawn.append(f"<g><title>{escape(row.label)}: {escape(row.value)}</title>")
        drawn.append(row_label(shown_name, top + _ROW / 2 + 7, label, stacked))
        y = top + row_height - _ROW / 2 + 3
        drawn += _marks(row, y, place)
        drawn.append(
            f'<text class="value" x="{width - right + 12}" y="{y + 4:.1f}">'
            f"{escape(row.value)}</text></g>"
        )
    drawn.append(
        f'<text class="axis" x="{(left + width - right) / 2}" y="{bottom + 40}" '
        f'text-anchor="middle">{escape(name)}</text>'
    )
    return frame(width, bottom + 48, drawn)


def _marks(row: Samples, y: float, place: Callable[[float], float]) -> list[str]:
    """Draw the samples of a row and its interval."""
    drawn = [
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
    return drawn
