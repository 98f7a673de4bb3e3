"""Picture of a contract graph's memory plan: addresses and lifetimes of temporaries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from diopi_proto.schema import load as load_schema
from dl_graph import PlanReport
from dl_graph.expression import evaluate
from dl_report.charts import Box
from dl_report.charts import boxes as draw_boxes
from dl_report.page import Html


def lifetimes(entry: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """Return the indices of the first and last call that use each storage."""
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
) -> Html:
    """Return a picture with calls from left to right and bytes from the bottom up. Each box is a
    temporary. Boxes overlap if a call writes its result over an input, as some operators may.

    :param sizes: sizes of the graph's symbols.
    :returns: the picture; empty if the graph has no temporaries.
    """
    if not plan.offsets or not plan.bytes:
        return Html()
    calls, times, boxes = entry["calls"], lifetimes(entry), []
    for storage, offset in sorted(plan.offsets.items()):
        first, last = times.get(storage, (0, len(calls) - 1))
        size = evaluate(entry["storages"][storage]["bytes"], sizes)
        title = (
            f"temporary {storage}: {format_bytes(size)} at {offset}, from call {first} "
            f"({calls[first][0]}) to call {last} ({calls[last][0]})"
        )
        boxes.append(Box(first, last, offset, offset + size, title))
    boxes = [box for box in boxes if box.high > box.low]
    return draw_boxes(boxes, len(calls), plan.bytes, "call", format_bytes)


def format_bytes(count: float) -> str:
    """Format bytes, for example 1572864 as ``1.5 MiB``."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"
