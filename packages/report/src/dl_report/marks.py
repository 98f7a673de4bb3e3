"""Marks and axes, of which SVG charts consist."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .page import Html, macro

WIDTH, NARROW = 1130, 380
"""Widths of charts in wide and in narrow windows."""


@dataclass(frozen=True)
class Mark:
    """One SVG element.

    :ivar title: tooltip.
    :ivar parts: elements inside this one.
    """

    tag: str
    attributes: Mapping[str, str]
    text: str = ""
    title: str = ""
    parts: Sequence[Mark] = ()


def _mark(tag: str, style: str, **attributes: object) -> Mark:
    shown = {"class": style}
    for name, value in attributes.items():
        number = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
        shown[name.replace("_", "-")] = number
    return Mark(tag, shown)


def rect(style: str, x: float, y: float, width: float, height: float, **more: object) -> Mark:
    return _mark("rect", style, x=x, y=y, width=width, height=height, **more)


def circle(style: str, x: float, y: float, radius: float) -> Mark:
    return _mark("circle", style, cx=x, cy=y, r=radius)


def path(style: str, commands: str) -> Mark:
    return _mark("path", style, d=commands)


def text(
    content: str, x: float, y: float, style: str = "tick", anchor: str = "start", **more: object
) -> Mark:
    return replace(_mark("text", style, x=x, y=y, text_anchor=anchor, **more), text=content)


def group(title: str, *parts: Mark) -> Mark:
    """Return a group of marks with a tooltip."""
    return Mark("g", {}, title=title, parts=parts)


@dataclass(frozen=True)
class Axis:
    """Scale of an axis.

    :ivar ticks: values, of which the first is drawn at ``start`` and the last at ``end``.
    """

    ticks: Sequence[float]
    start: float
    end: float
    logarithmic: bool = False

    def position(self, value: float) -> float:
        """Return the coordinate of a value."""
        values = (value, self.ticks[0], self.ticks[-1])
        value, first, last = map(math.log10, values) if self.logarithmic else values
        return self.start + (value - first) / ((last - first) or 1) * (self.end - self.start)


def horizontal_axis(
    axis: Axis, top: float, bottom: float, name: str, label: Callable[[float], str], every: int = 1
) -> list[Mark]:
    """Draw a horizontal axis: a line of the grid and a label at each tick, and its name below.

    :param every: draw the label of every n-th tick only.
    """
    marks = []
    for value in axis.ticks[::every]:
        x = axis.position(value)
        marks.append(path("grid", f"M{x:.1f} {top}V{bottom}"))
        marks.append(text(label(value), x, bottom + 18, anchor="middle"))
    return [*marks, text(name, (axis.start + axis.end) / 2, bottom + 40, "axis", "middle")]


def vertical_axis(
    axis: Axis, left: float, right: float, name: str, label: Callable[[float], str]
) -> list[Mark]:
    """Draw a vertical axis, with its name to the left of the labels."""
    marks = []
    for value in axis.ticks:
        y = axis.position(value)
        marks.append(path("grid", f"M{left} {y:.1f}H{right}"))
        marks.append(text(label(value), left - 8, y + 4, anchor="end"))
    middle = (axis.start + axis.end) / 2
    rotated = f"rotate(-90 16 {middle})"
    return [*marks, text(name, 16, middle, "axis", "middle", transform=rotated)]


def linear_ticks(low: float, high: float) -> list[float]:
    """Return round values from at most ``low`` to at least ``high``."""
    step = _round_step((high - low) or abs(high) or 1.0)
    first = math.floor(low / step)
    last = max(math.ceil(high / step), first + 1)
    return [step * count for count in range(first, last + 1)]


def _round_step(largest: float) -> float:
    """Return a round step that divides a range of this size into at most five parts."""
    size: float = 10.0 ** math.floor(math.log10(largest))
    return next(size * x for x in (0.2, 0.5, 1.0, 2.0) if largest <= 5 * size * x)


def decades(values: Iterable[float]) -> list[float]:
    """Return the powers of ten around positive values."""
    logs = [math.log10(value) for value in values]
    return [10.0**power for power in range(math.floor(min(logs)), math.ceil(max(logs)) + 1)]


_PREFIX = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}


def with_prefix(value: float) -> str:
    """Format a power of ten: ``10k`` for 10,000."""
    power = round(math.log10(value))
    base = 3 * math.floor(power / 3)
    if base not in _PREFIX:
        return f"1e{power}"
    return f"{10 ** (power - base)}{_PREFIX[base]}"


Drawing = tuple[float, Sequence[Mark]]
"""Height and marks of a chart."""


def responsive(draw: Callable[[int], Drawing]) -> Html:
    """Draw a chart for wide and for narrow windows; the style sheet selects one.

    Scaled text would be unreadable, and a scrolled chart would hide what it compares.
    """
    return macro("chart")([("wide", WIDTH, *draw(WIDTH)), ("narrow", NARROW, *draw(NARROW))])
