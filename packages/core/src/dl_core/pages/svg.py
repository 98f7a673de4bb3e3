"""Plots as inline SVG, in the colors of the page's light and dark modes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from .labels import shortened

_ROW = 26
_VALUE, _NARROW_VALUE = 150, 130
WIDTH, NARROW = 1130, 380
_TICK = 44


@dataclass(frozen=True)
class Bar:
    """One bar of a bar chart: parts of its length, each with a class of the style sheet.

    :ivar value: text after the bar; :ivar title: tooltip.
    """

    label: str
    parts: Sequence[tuple[float, str]]
    value: str
    title: str = ""


def bars(lines: Sequence[Bar], label: int = 310) -> str:
    """Draw horizontal bars over a common scale that starts at 0.

    :param label: width of the labels; narrow windows show them above the bars.
    """
    longest = max((sum(length for length, _ in line.parts) for line in lines), default=0.0)
    return responsive(lambda width: _bars(lines, longest, label, width))


def _bars(lines: Sequence[Bar], longest: float, label: int, width: int) -> str:
    stacked = width < WIDTH
    left = 0 if stacked else label
    room = width - left - (_NARROW_VALUE if stacked else _VALUE)
    row = 2 * _ROW if stacked else _ROW
    names = shortened([line.label for line in lines], (width if stacked else label) // 7)
    drawn = []
    for at, (line, name) in enumerate(zip(lines, names, strict=True)):
        y = at * row + 4
        drawn.append(f"<g><title>{escape(line.title or line.label)}</title>")
        drawn.append(row_label(name, y + 15, label, stacked))
        y += _ROW - 4 if stacked else 0
        x = float(left)
        for length, style in line.parts:
            size = room * length / longest if longest > 0 else 0.0
            if size > 0:
                drawn.append(
                    f'<rect class="{style}" x="{x:.1f}" y="{y + 2}" width="{max(size, 0.8):.1f}" '
                    f'height="{_ROW - 9}"/>'
                )
            x += size
        drawn.append(
            f'<text class="value" x="{x + 8:.1f}" y="{y + 15}">{escape(line.value)}</text>'
        )
        drawn.append("</g>")
    return frame(width, row * len(lines) + 4, drawn)


def row_label(name: str, y: float, label: int, stacked: bool) -> str:
    """Draw the name of a row: to the left of it, or above it in a narrow window."""
    x, anchor = (0, "start") if stacked else (label - 10, "end")
    return f'<text class="name" x="{x}" y="{y:g}" text-anchor="{anchor}">{escape(name)}</text>'


def strip(parts: Sequence[tuple[str, float, str]]) -> str:
    """Draw one bar that shows the parts of a whole: label, length and class of each part."""
    return responsive(lambda width: _strip(parts, width))


def _strip(parts: Sequence[tuple[str, float, str]], width: int) -> str:
    whole = sum(length for _, length, _ in parts)
    drawn, x = [], 0.0
    for label, length, style in parts:
        size = width * length / whole if whole > 0 else 0.0
        share = length / whole if whole > 0 else 0.0
        drawn.append(f"<g><title>{escape(label)}: {share:.1%}</title>")
        drawn.append(
            f'<rect class="{style}" x="{x:.1f}" y="0" height="34" '
            f'width="{max(size - 1.5, 0):.1f}"/>'
        )
        text = f"{label} {share:.0%}"
        if size > 8 * len(text):
            drawn.append(
                f'<text class="on" x="{x + size / 2:.1f}" y="22" text-anchor="middle">'
                f"{escape(text)}</text>"
            )
        drawn.append("</g>")
        x += size
    return frame(width, 34, drawn)


@dataclass(frozen=True)
class Point:
    """A circle at (x, y), with an area."""

    x: float
    y: float
    area: float
    style: str
    title: str


def _decades(low: float, high: float) -> range:
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


@dataclass(frozen=True)
class Line:
    """A line through points, with a label at its end."""

    points: Sequence[tuple[float, float]]
    label: str
    style: str = "limit"


def logarithmic(
    points: Sequence[Point],
    lines: Sequence[Line],
    labels: tuple[str, str],
    height: int = 420,
) -> str:
    """Draw points and lines over two logarithmic axes; all values must be positive."""
    return responsive(lambda width: _logarithmic(points, lines, labels, width, height))


def _logarithmic(
    points: Sequence[Point],
    lines: Sequence[Line],
    labels: tuple[str, str],
    width: int,
    height: int,
) -> str:
    xs = [p.x for p in points] + [x for line in lines for x, _ in line.points]
    ys = [p.y for p in points] + [y for line in lines for _, y in line.points]
    across, up = _decades(min(xs), max(xs)), _decades(min(ys), max(ys))
    left, right, top, bottom = (76, 120, 12, 52) if width == WIDTH else (66, 64, 12, 52)
    # Labels of every decade would overlap in a narrow chart.
    every = math.ceil(len(across) * _TICK / (width - left - right))

    def place(x: float, y: float) -> tuple[float, float]:
        fraction_x = (math.log10(x) - across[0]) / max(across[-1] - across[0], 1)
        fraction_y = (math.log10(y) - up[0]) / max(up[-1] - up[0], 1)
        return (
            left + fraction_x * (width - left - right),
            height - bottom - fraction_y * (height - top - bottom),
        )

    drawn = []
    for power in across[::every]:
        x, _ = place(10.0**power, 10.0 ** up[0])
        drawn.append(f'<path class="grid" d="M{x:.1f} {top}V{height - bottom}"/>')
        drawn.append(
            f'<text class="tick" x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle">'
            f"{_power(power)}</text>"
        )
    for power in up:
        _, y = place(10.0 ** across[0], 10.0**power)
        drawn.append(f'<path class="grid" d="M{left} {y:.1f}H{width - right}"/>')
        drawn.append(
            f'<text class="tick" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_power(power)}</text>"
        )
    for line in lines:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*p) for p in line.points))
        drawn.append(f'<path class="{line.style}" d="M{path}"/>')
        x, y = place(*line.points[-1])
        drawn.append(
            f'<text class="tick" x="{x + 6:.1f}" y="{y + 4:.1f}">{escape(line.label)}</text>'
        )
    largest = max((p.area for p in points), default=0.0)
    for point in sorted(points, key=lambda p: -p.area):
        x, y = place(point.x, point.y)
        radius = 3 + 15 * math.sqrt(point.area / largest) if largest > 0 else 3
        drawn.append(
            f'<circle class="{point.style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{escape(point.title)}</title></circle>"
        )
    center = (left + width - right) / 2, (top + height - bottom) / 2
    drawn += _axes(labels, center, height)
    return frame(width, height, drawn)


_PREFIX = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}


def _power(power: int) -> str:
    """Format a power of ten: ``10k`` for 4."""
    base = 3 * math.floor(power / 3)
    if base not in _PREFIX:
        return f"1e{power}"
    return f"{10 ** (power - base)}{_PREFIX[base]}"


def round_step(largest: float) -> float:
    """Return a round step that divides the range up to ``largest`` into at most five parts."""
    if largest <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(largest))
    return next(size * x for x in (0.2, 0.5, 1.0, 2.0) if largest <= 5 * size * x)


def over_time(series: Sequence[Line], labels: tuple[str, str], height: int = 300) -> str:
    """Draw lines over linear axes that start at 0."""
    return responsive(lambda width: _over_time(series, labels, width, height))


def _over_time(series: Sequence[Line], labels: tuple[str, str], width: int, height: int) -> str:
    longest = max((x for line in series for x, _ in line.points), default=0.0)
    highest = max((y for line in series for _, y in line.points), default=0.0)
    steps = round_step(longest), round_step(highest)
    across = steps[0] * max(math.ceil(longest / steps[0]), 1)
    up = steps[1] * max(math.ceil(highest / steps[1]), 1)
    left, right, top, bottom = 76, 20, 12, 52

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            left + x / across * (width - left - right),
            height - bottom - y / up * (height - top - bottom),
        )

    drawn = []
    for at in range(round(across / steps[0]) + 1):
        x, _ = place(at * steps[0], 0)
        drawn.append(
            f'<text class="tick" x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle">'
            f"{at * steps[0]:g}</text>"
        )
    for at in range(round(up / steps[1]) + 1):
        _, y = place(0, at * steps[1])
        drawn.append(f'<path class="grid" d="M{left} {y:.1f}H{width - right}"/>')
        drawn.append(
            f'<text class="tick" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{at * steps[1]:g}</text>"
        )
    for line in series:
        if line.points:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*p) for p in line.points))
            drawn.append(
                f'<path class="{line.style}" d="M{path}"><title>{escape(line.label)}</title></path>'
            )
    center = (left + width - right) / 2, (top + height - bottom) / 2
    drawn += _axes(labels, center, height)
    return frame(width, height, drawn)


def _axes(labels: tuple[str, str], center: tuple[float, float], height: int) -> list[str]:
    """Draw the names of both axes, centered below and to the left of the plot."""
    x, y = center
    return [
        f'<text class="axis" x="{x}" y="{height - 12}" '
        f'text-anchor="middle">{escape(labels[0])}</text>',
        f'<text class="axis" x="16" y="{y}" text-anchor="middle" '
        f'transform="rotate(-90 16 {y})">{escape(labels[1])}</text>',
    ]


def responsive(draw: Callable[[int], str]) -> str:
    """Draw a chart for wide and for narrow windows; the style sheet selects one.

    Scaled text would be unreadable, and a scrolled chart would hide what it compares.
    """
    wide, narrow = draw(WIDTH), draw(NARROW)
    return f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'


def frame(width: int, height: int, drawn: Sequence[str]) -> str:
    """Wrap drawn elements as one SVG of this size."""
    return (
        '<div class="chart">'
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        + "".join(drawn)
        + "</svg></div>"
    )
