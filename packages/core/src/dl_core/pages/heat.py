"""Heat map of two parameters: a number in each cell, shaded by its value."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .svg import WIDTH, frame

_CELL, _HEIGHT, _LEFT = 120, 30, 130


def heat(
    names: tuple[str, str],
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    form: str = "{:.3f}",
) -> str:
    """Return a grid of cells; the largest value has the full color, the smallest none.

    :param names: names of columns and rows.
    :param values: values by row and column; None: an empty cell.
    :param form: format of a number.
    """
    numbers = [value for row in values for value in row if value is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    size = min(_CELL, (WIDTH - _LEFT) // max(len(columns), 1))
    drawn = []
    for across, name in enumerate(columns):
        x = _LEFT + (across + 0.5) * size
        drawn.append(
            f'<text class="tick" x="{x}" y="18" text-anchor="middle">{escape(name)}</text>'
        )
    for down, name in enumerate(rows):
        y = 26 + down * _HEIGHT
        drawn.append(
            f'<text class="tick" x="{_LEFT - 10}" y="{y + 19}" text-anchor="end">'
            f"{escape(name)}</text>"
        )
        for across, value in enumerate(values[down]):
            if value is None:
                continue
            x = _LEFT + across * size
            share = (value - low) / (high - low) if high > low else 1.0
            told = f"{names[0]}={columns[across]}, {names[1]}={name}: {form.format(value)}"
            drawn.append(
                f"<g><title>{escape(told)}</title>"
                f'<rect class="third" fill-opacity="{0.08 + 0.62 * share:.2f}" x="{x + 1}" '
                f'y="{y}" width="{size - 2}" height="{_HEIGHT - 2}"/>'
                f'<text x="{x + size / 2}" y="{y + 19}" text-anchor="middle">'
                f"{form.format(value)}</text></g>"
            )
    width = _LEFT + size * len(columns) + 10
    height = 26 + _HEIGHT * len(rows) + 6
    # As wide as the other charts, so that all have the same text size; narrow windows scroll it.
    return f'<div class="scrolled">{frame(max(width, WIDTH), height, drawn)}</div>'
