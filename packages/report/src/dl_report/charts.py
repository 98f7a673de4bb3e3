"""Charts as inline SVG, in the colors of the page's light and dark modes.

The styles of marks are classes of the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from . import marks as svg
from .labels import shortened
from .marks import WIDTH, Axis, Drawing, Mark
from .page import Html, macro


@dataclass(frozen=True)
class Bar:
    """One bar of a bar chart: parts of its length, each with a style.

    :ivar value: text after the bar.
    :ivar title: tooltip.
    """

    label: str
    parts: Sequence[tuple[float, str]]
    value: str
    title: str = ""


def bars(lines: Sequence[Bar], label: int = 310) -> Html:
    """Draw horizontal bars over a common scale that starts at 0.

    :param label: width of the labels; narrow windows show them above the bars.
    """
    longest = max((sum(length for length, _ in line.parts) for line in lines), default=0.0)

    def draw(width: int) -> Drawing:
        rows = _Rows(width, label, 26)
        scale = (rows.right - rows.left) / longest if longest > 0 else 0.0
        marks = []
        for line, (name, y) in zip(lines, rows.names(lines), strict=True):
            x, drawn = float(rows.left), []
            for length, style in line.parts:
                if length * scale > 0:
                    drawn.append(svg.rect(style, x, y - 8, max(length * scale, 0.8), 17))
                x += length * scale
            value = svg.text(line.value, x + 8, y + 5, "value")
            marks.append(svg.group(line.title or line.label, name, *drawn, value))
        return rows.height * len(lines) + 4, marks

    return svg.responsive(draw)


@dataclass(frozen=True)
class Samples:
    """One row of a chart of samples.

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
    rows: Sequence[Samples], name: str, reference: float | None = None, label: int = 310
) -> Html:
    """Draw raw samples on a common axis, one row per measurement, and a line at the reference.

    :param name: name of the axis.
    :param label: width of the labels; narrow windows show them above the rows.
    """
    shown = [value for row in rows for value in (*row.values, *(row.interval or ()))]
    shown += [] if reference is None else [reference]
    ticks = svg.linear_ticks(min(shown), max(shown))

    def draw(width: int) -> Drawing:
        layout = _Rows(width, label, 30)
        bottom = layout.height * len(rows) + 6
        axis = Axis(ticks, layout.left, layout.right)
        marks = svg.horizontal_axis(
            axis, 0, bottom, name, "{:g}".format, every=2 if layout.is_narrow else 1
        )
        if reference is not None:
            marks.append(svg.path("limit", f"M{axis.position(reference):.1f} 0V{bottom}"))
        for row, (named, y) in zip(rows, layout.names(rows), strict=True):
            drawn = [svg.circle(row.style, axis.position(value), y, 3.5) for value in row.values]
            if row.interval is not None:
                low, middle, high = map(axis.position, row.interval)
                commands = (
                    f"M{low:.1f} {y - 7}V{y + 7}M{low:.1f} {y}H{high:.1f}"
                    f"M{high:.1f} {y - 7}V{y + 7}M{middle:.1f} {y - 9}V{y + 9}"
                )
                drawn.append(svg.path("second", commands))
            value = svg.text(row.value, layout.right + 12, y + 4, "value")
            marks.append(svg.group(f"{row.label}: {row.value}", named, *drawn, value))
        return bottom + 48, marks

    return svg.responsive(draw)


class _Rows:
    """Layout of rows with names and values: names are above the rows in narrow windows."""

    def __init__(self, width: int, label: int, height: int) -> None:
        self.is_narrow = width < WIDTH
        self.left, self.right = (14, width - 130) if self.is_narrow else (label, width - 150)
        self.height = height + 24 if self.is_narrow else height
        self._characters = (width if self.is_narrow else label) // 7
        self._below = height / 2

    def names(self, rows: Sequence[Bar] | Sequence[Samples]) -> Iterator[tuple[Mark, float]]:
        """Yield the name of each row and the vertical center of its marks."""
        for at, name in enumerate(shortened([row.label for row in rows], self._characters), 1):
            y = at * self.height - self._below
            if self.is_narrow:
                yield svg.text(name, 0, y - self._below - 4, "name"), y
            else:
                yield svg.text(name, self.left - 10, y + 5, "name", "end"), y


def strip(parts: Sequence[tuple[str, float, str]]) -> Html:
    """Draw one bar that shows the parts of a whole: label, length and style of each part."""
    whole = sum(length for _, length, _ in parts)

    def draw(width: int) -> Drawing:
        marks, x = [], 0.0
        for label, length, style in parts:
            share = length / whole if whole > 0 else 0.0
            size, shown = width * share, f"{label} {share:.0%}"
            drawn = [svg.rect(style, x, 0, max(size - 1.5, 0.0), 34)]
            if size > 8 * len(shown):
                drawn.append(svg.text(shown, x + size / 2, 22, "on", "middle"))
            marks.append(svg.group(f"{label}: {share:.1%}", *drawn))
            x += size
        return 34, marks

    return svg.responsive(draw)


@dataclass(frozen=True)
class Point:
    """A circle at (x, y), with an area."""

    x: float
    y: float
    area: float
    style: str
    title: str


@dataclass(frozen=True)
class Line:
    """A line through points, with a label."""

    points: Sequence[tuple[float, float]]
    label: str
    style: str = "limit"


def logarithmic(
    points: Sequence[Point], lines: Sequence[Line], labels: tuple[str, str], height: int = 420
) -> Html:
    """Draw points and labeled lines over two logarithmic axes; all values must be positive."""
    xs = svg.decades([p.x for p in points] + [x for line in lines for x, _ in line.points])
    ys = svg.decades([p.y for p in points] + [y for line in lines for _, y in line.points])
    largest = max((p.area for p in points), default=0.0) or 1.0

    def draw(width: int) -> Drawing:
        right = width - (120 if width == WIDTH else 64)
        x, y = Axis(xs, 66, right, True), Axis(ys, height - 52, 12, True)
        marks = _plot(x, y, lines, labels, svg.with_prefix)
        for line in lines:
            end = line.points[-1]
            marks.append(svg.text(line.label, x.position(end[0]) + 6, y.position(end[1]) + 4))
        for point in sorted(points, key=lambda p: -p.area):
            radius = 3 + 15 * math.sqrt(point.area / largest)
            drawn = svg.circle(point.style, x.position(point.x), y.position(point.y), radius)
            marks.append(replace(drawn, title=point.title))
        return height, marks

    return svg.responsive(draw)


def over_time(lines: Sequence[Line], labels: tuple[str, str], height: int = 300) -> Html:
    """Draw lines over linear axes that start at 0."""
    xs = svg.linear_ticks(0.0, max((x for line in lines for x, _ in line.points), default=0.0))
    ys = svg.linear_ticks(0.0, max((y for line in lines for _, y in line.points), default=0.0))

    def draw(width: int) -> Drawing:
        x, y = Axis(xs, 76, width - 20), Axis(ys, height - 52, 12)
        return height, _plot(x, y, lines, labels, "{:g}".format)

    return svg.responsive(draw)


def _plot(
    x: Axis,
    y: Axis,
    lines: Sequence[Line],
    labels: tuple[str, str],
    number: Callable[[float], str],
) -> list[Mark]:
    """Draw two axes and the lines between them."""
    # Labels of every tick would overlap in a narrow chart.
    every = math.ceil(len(x.ticks) * 44 / (x.end - x.start))
    marks = svg.horizontal_axis(x, y.end, y.start, labels[0], number, every)
    marks += svg.vertical_axis(y, x.start, x.end, labels[1], number)
    for line in filter(lambda each: each.points, lines):
        points = (f"{x.position(a):.1f} {y.position(b):.1f}" for a, b in line.points)
        marks.append(replace(svg.path(line.style, f"M{'L'.join(points)}"), title=line.label))
    return marks


@dataclass(frozen=True)
class Box:
    """A rectangle over columns ``first`` to ``last`` and values ``low`` to ``high``."""

    first: int
    last: int
    low: float
    high: float
    title: str


def boxes(
    content: Sequence[Box], columns: int, highest: float, name: str, label: Callable[[float], str]
) -> Html:
    """Draw boxes over numbered columns.

    :param highest: value at the top.
    :param name: name of the horizontal axis.
    :param label: function that formats a value.
    """
    styles = ("forward", "backward", "overload", "third")
    height, left, floor = 260, 84, 220

    def draw(width: int) -> Drawing:
        x = Axis((0, max(columns, 1)), left, width - 10)
        y = Axis((0, highest / 2, highest), floor, 8)
        marks = svg.vertical_axis(y, left, width - 10, "", label)
        for order, box in enumerate(content):
            start, top = x.position(box.first), y.position(box.high)
            size = max(x.position(box.last + 1) - start - 2, 1.0)
            tall = max(y.position(box.low) - top - 1, 1.0)
            style = styles[order % len(styles)]
            drawn = svg.rect(style, start + 1, top, size, tall, fill_opacity=".8")
            marks.append(replace(drawn, title=box.title))
        for place in range(0, columns, math.ceil(columns * 44 / (width - left)) or 1):
            marks.append(svg.text(f"{place}", x.position(place + 0.5), floor + 17, anchor="middle"))
        marks.append(svg.text(name, (left + width) / 2, height - 6, "axis", "middle"))
        return height, marks

    return svg.responsive(draw)


def heat(
    names: tuple[str, str],
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    form: str = "{:.3f}",
) -> Html:
    """Draw a grid of numbers; the largest value has the full color, the smallest none.

    :param names: names of columns and rows.
    :param values: values by row and column; None: an empty cell.
    :param form: format of a number.
    """
    numbers = [value for row in values for value in row if value is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    size = min(120, 1000 // max(len(columns), 1))
    centers = [130 + (at + 0.5) * size for at in range(len(columns))]
    marks = [
        svg.text(name, x, 18, anchor="middle") for x, name in zip(centers, columns, strict=True)
    ]
    for down, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = 26 + down * 30
        marks.append(svg.text(name, 120, y + 19, anchor="end"))
        for x, column, value in zip(centers, columns, row, strict=True):
            if value is None:
                continue
            share, number = (value - low) / (high - low) if high > low else 1.0, form.format(value)
            shade = f"{0.08 + 0.62 * share:.2f}"
            cell = svg.rect("third", x - size / 2 + 1, y, size - 2, 28, fill_opacity=shade)
            title = f"{names[0]}={column}, {names[1]}={name}: {number}"
            marks.append(svg.group(title, cell, svg.text(number, x, y + 19, "name", "middle")))
    # As wide as the other charts, so that all have the same text size; narrow windows scroll it.
    return macro("chart")([("scrolled", WIDTH, 32 + 30 * len(rows), marks)])
