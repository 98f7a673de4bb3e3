"""HTML report of a time measurement."""

from __future__ import annotations

from pathlib import Path

from dl_optools.timing.results import TimeResults, percent_text, rate_text, shapes_text
from dl_optools.timing.spans import Row
from dl_report import charts, page
from dl_report.charts import Bar, Line, Point
from dl_report.page import Cell, Html

_BARS = 16
_MOST_ROWS = 400


def write_report(results: TimeResults, path: Path) -> None:
    """Write a self-contained HTML file with plots and tables."""
    path.write_text(report(results), encoding="utf-8")


def report(results: TimeResults) -> str:
    """Return the HTML of the page."""
    sections = [
        page.heading("Operator times", results.notes()),
        _tiles(results),
        _time_division(results),
        _operators(results),
        _roofline(results),
        _excess_times(results),
        _table(results, "function"),
        _table(results, "overload"),
    ]
    return page.render_page("Operator times", [section for section in sections if section])


def _milliseconds(results: TimeResults, seconds: float) -> str:
    each = seconds / max(results.steps, 1) * 1e3
    return f"{each:.3g} ms" if each < 100 else f"{each:.0f} ms"


def _tiles(results: TimeResults) -> Html:
    known = [(_milliseconds(results, results.seconds), "a step")]
    known.append((f"{1 - results.share(results.elsewhere):.0%}", "of the time in operators"))
    if results.spending is not None:
        known.append((f"{results.spending.overhead:.2g} %", "time taken by the tool, on average"))
    roofline = results.roofline
    if roofline is not None and roofline.bandwidth:
        known.append((rate_text(roofline.bandwidth, 1, "B"), "copy bandwidth, measured"))
        for dtype, rate in sorted(roofline.flops.items()):
            if rate:
                known.append((rate_text(rate, 1, "FLOP"), f"{dtype} product, measured"))
    return page.tiles(known)


def _time_division(results: TimeResults) -> Html:
    rows = results.outermost()
    backward = sum(x.seconds for x in rows if x.backward)
    functions = sum(x.seconds for x in rows if not x.backward and x.level == "function")
    others = sum(x.seconds for x in rows if not x.backward and x.level == "overload")
    parts = [
        ("forward", functions, "forward"),
        ("backward", backward, "backward"),
        ("other overloads", others, "third"),
        ("no operator", results.elsewhere, "rest"),
    ]
    return page.section(
        "Time of a step",
        "Forward and backward of Python functions, overloads that ran outside of these, and the "
        "rest: Python itself, autograd, waiting for data.",
        charts.strip([part for part in parts if part[1] > 0]),
    )


def _operators(results: TimeResults) -> Html:
    found: dict[str, dict[bool, float]] = {}
    calls: dict[str, int] = {}
    for row in results.outermost():
        sums = found.setdefault(row.operator, {False: 0.0, True: 0.0})
        sums[row.backward] += row.seconds
        calls[row.operator] = calls.get(row.operator, 0) + (0 if row.backward else row.calls)
    ranked = sorted(found.items(), key=lambda item: -sum(item[1].values()))[:_BARS]
    lines = [
        Bar(
            name,
            [(sums[False], "forward"), (sums[True], "backward")],
            f"{_milliseconds(results, sum(sums.values()))}, "
            f"{results.share(sum(sums.values())):.1%}",
            f"{name}: forward {_milliseconds(results, sums[False])}, backward "
            f"{_milliseconds(results, sums[True])} a step; {calls[name]} calls measured",
        )
        for name, sums in ranked
    ]
    return page.section(
        "Operators",
        "Time per step, including nested calls.",
        page.key([("forward", "forward"), ("backward", "backward")]),
        charts.bars(lines),
    )


def _title(results: TimeResults, row: Row) -> str:
    return (
        f"{row.operator} {shapes_text(row.shapes, row.dtypes)} ({row.direction}): "
        f"{_milliseconds(results, row.own)} a step, "
        f"{rate_text(sum(row.flops.values()), row.seconds, 'FLOP')} "
        f"{rate_text(row.bytes, row.seconds, 'B')} {percent_text(results.attained_share(row))}"
    )


def _kernel_rows(results: TimeResults) -> list[Row]:
    """Return the rows that stand for kernels: overloads if they were timed."""
    overloads = [row for row in results.rows if row.level == "overload"]
    return overloads or [row for row in results.rows if row.level == "function"]


def _roofline(results: TimeResults) -> Html:
    roofline = results.roofline
    rows = [x for x in _kernel_rows(results) if x.flops and x.bytes and x.seconds]
    if roofline is None or not roofline.bandwidth or not rows:
        return Html()
    points = [
        Point(
            sum(row.flops.values()) / row.bytes,
            sum(row.flops.values()) / row.seconds,
            row.seconds,
            row.direction,
            _title(results, row),
        )
        for row in rows
    ]
    low = min(point.x for point in points) / 2
    lines = []
    for dtype, rate in roofline.flops.items():
        if rate:
            corner = rate / roofline.bandwidth
            high = max([corner * 4, *(point.x * 2 for point in points)])
            start = min(low, corner / 2)
            lines.append(
                Line([(start, start * roofline.bandwidth), (corner, rate), (high, rate)], dtype)
            )
    return page.section(
        "Roofline",
        "Products, convolutions and attention against what a copy and a square product reached on "
        "this device. Area is time. Above the slope the data came from caches.",
        page.key([("forward", "forward"), ("backward", "backward"), ("limit", "measured limit")]),
        charts.logarithmic(points, lines, ("operations per byte", "operations per second")),
    )


def _excess_times(results: TimeResults) -> Html:
    lines = []
    for row in _kernel_rows(results):
        attained = results.attained_share(row)
        if attained is not None:
            # Nested calls are rows of their own.
            least = min(attained, 1.0) * row.own
            lines.append((row, least, row.own - least))
    lines.sort(key=lambda line: -line[2])
    if not lines:
        return Html()
    return page.section(
        "Potential by the roofline",
        "Time of a step that an operator would take at the measured limit, and the time above "
        "that, which is the most that a better kernel could gain. Small operators consist of "
        "launch overhead.",
        page.key([("third", "at the limit"), ("rest", "above it")]),
        charts.bars(
            [
                Bar(
                    f"{_brief(row.operator)}  {shapes_text(row.shapes, row.dtypes, 2)}",
                    [(least, "third"), (above, "rest")],
                    f"{_milliseconds(results, above)} above",
                    _title(results, row),
                )
                for row, least, above in lines[:_BARS]
            ],
            label=430,
        ),
    )


def _brief(name: str) -> str:
    """Return ``addmm`` for ``aten.addmm.default``; the title has the full name."""
    return name.removeprefix("aten.").removesuffix(".default").removeprefix("torch.nn.functional.")


def _table(results: TimeResults, level: str) -> Html:
    rows = sorted((x for x in results.rows if x.level == level), key=lambda row: -row.typical)
    if not rows:
        return Html()
    steps = max(results.steps, 1)
    is_function = level == "function"
    cells: list[list[Cell]] = []
    for row in rows[:_MOST_ROWS]:
        flops = sum(row.flops.values())
        known = row.seconds > 0
        attained = results.attained_share(row)
        line: list[Cell] = [row.operator, row.direction, shapes_text(row.shapes, row.dtypes)]
        if not is_function:
            line.append(row.function)
        line += [
            (f"{row.calls / steps:g}", row.calls),
            (f"{row.seconds / steps * 1e3:.3f}", row.seconds),
            (f"{row.median * 1e3:.4f}", row.median),
            (f"{row.own / steps * 1e3:.3f}", row.own),
            (f"{results.share(row.seconds):.1%}", row.seconds),
            (rate_text(row.bytes, row.seconds, "B"), row.bytes / row.seconds if known else None),
            (rate_text(flops, row.seconds, "FLOP"), flops / row.seconds if known else None),
            (percent_text(attained), attained),
        ]
        cells.append(line)
    headers = ["operator", "direction", "arguments", *([] if is_function else ["function"])]
    headers += ["calls/step", "ms/step", "median ms", "self ms", "share"]
    headers += ["bandwidth", "rate", "of roofline"]
    more = len(rows) - _MOST_ROWS
    return page.section(
        "Functions" if is_function else "Overloads",
        "By operator, shapes and dtypes. Self is the time of a step without the calls timed inside"
        + (f"; {more} more rows are in the CSV file." if more > 0 else "."),
        page.table(headers, cells),
    )
