"""The memory plan of a contract graph as a picture: which temporaries lie where, and how long."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from diopi_proto.schema import load as load_schema
from dl_graph import PlanReport
from dl_graph.expression import evaluate

WIDTH, HEIGHT = 1130, 260
_LEFT, _TOP, _BOTTOM = 84, 8, 40
_STYLES = ("forward", "backward", "overload", "third")


def lifetimes(entry: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """For each storage that calls use: the places of the first call and of the last one."""
    schema, values = load_schema(), entry["values"]
    found: dict[int, tuple[int, int]] = {}
    for place, (operator, arguments) in enumerate(entry["calls"]):
        for parameter in schema[operator].params[1:]:
            if "TensorHandle" not in parameter.type:
                continue
            given = arguments.get(parameter.name)
            for number in given if isinstance(given, list) else [given]:
                if number is not None:
                    storage = values[number]["storage"]
                    found[storage] = (found.get(storage, (place, place))[0], place)
    return found


def memory_picture(
    entry: Mapping[str, Any], plan: PlanReport, sizes: Mapping[str, int] = MappingProxyType({})
) -> str:
    """Calls go from left to right, bytes from the bottom up; a box is a temporary. Where
    two overlap, a call writes over what it reads, as its operator may.

    :param sizes: of the graph's symbols.
    :returns: SVG in the classes of dl-core's pages; empty where there is no temporary.
    """
    if not plan.offsets or not plan.bytes:
        return ""
    count = len(entry["calls"])
    across = (WIDTH - _LEFT - 10) / max(count, 1)
    up = (HEIGHT - _TOP - _BOTTOM) / plan.bytes
    floor = HEIGHT - _BOTTOM
    drawn = [f'<path class="grid" d="M{_LEFT} {_TOP}V{floor}H{WIDTH - 10}"/>']
    times = lifetimes(entry)
    for order, (storage, offset) in enumerate(sorted(plan.offsets.items())):
        first, last = times.get(storage, (0, count - 1))
        size = evaluate(entry["storages"][storage]["bytes"], sizes)
        if not size:
            continue
        writer = entry["calls"][first][0]
        title = (
            f"temporary {storage}: {format_bytes(size)} at {offset}, from call {first} ({writer}) "
            f"to call {last} ({entry['calls'][last][0]})"
        )
        drawn.append(
            f'<rect class="{_STYLES[order % len(_STYLES)]}" x="{_LEFT + first * across + 1:.1f}" '
            f'y="{floor - (offset + size) * up:.1f}" '
            f'width="{max((last - first + 1) * across - 2, 1):.1f}" '
            f'height="{max(size * up - 1, 1):.1f}" fill-opacity=".8">'
            f"<title>{escape(title)}</title></rect>"
        )
    step = max(1, -(-count // 16))
    for place in range(0, count, step):
        middle = _LEFT + (place + 0.5) * across
        drawn.append(
            f'<text class="tick" x="{middle:.1f}" y="{floor + 17}" text-anchor="middle">'
            f"{place}</text>"
        )
    for share in (0.0, 0.5, 1.0):
        drawn.append(
            f'<text class="tick" x="{_LEFT - 8}" y="{floor - share * (floor - _TOP) + 5:.1f}" '
            f'text-anchor="end">{format_bytes(round(plan.bytes * share))}</text>'
        )
    drawn.append(
        f'<text class="axis" x="{(_LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        "call</text>"
    )
    return (
        f'<div class="chart"><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img">{"".join(drawn)}</svg></div>'
    )


def format_bytes(count: int) -> str:
    """``1.5 MiB`` for 1572864."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"
