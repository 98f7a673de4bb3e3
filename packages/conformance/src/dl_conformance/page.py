"""Self-contained HTML page for one report, or for several side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from diopi_proto.schema import expand_dtypes, load

from .model_table import as_html as models_as_html
from .results import COUNTED, called, clustered

Report = Mapping[str, Any]

WORST_FIRST = ("failed", "known failure", "passed", "unchecked", "skipped", "unsupported")
"""Statuses in order of precedence: a cell shows the first one that its cases have."""
EDGES = (0.0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Upper edges of the histogram's bins, in units of the error bound."""
EDGE_NAMES = ("0", "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "more")
LEGEND = {
    "passed": "passed; the number is the worst element in units of its bound",
    "failed": "failed",
    "known failure": "fails, and is on the vendor's list of known failures",
    "unsupported": "not implemented, or the dtype is declined",
    "unchecked": "ran, with nothing to check",
}


def page(reports: Sequence[Report]) -> str:
    """Render the page.

    :param reports: as :meth:`.results.Results.as_dict` makes them.
    """
    names = [name_of(report) for report in reports]
    body = [
        f"<h1>Conformance of {escape(' and '.join(names))}</h1>",
        _summary(reports, names),
        *(_failures(report, name) for report, name in zip(reports, names, strict=True)),
        "<h2>Error distribution</h2>",
        "<p>Cases by their worst element, in units of its error bound. "
        "Results above 1 are wrong.</p><div class=charts>",
        *(_histogram(report, name) for report, name in zip(reports, names, strict=True)),
        "</div>",
        *(_conversions(report, name) for report, name in zip(reports, names, strict=True)),
        models_as_html(reports, names),
        "<h2>Operators and dtypes</h2>",
        _legend(),
        _matrix(reports, names),
    ]
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>Conformance: {escape(', '.join(names))}</title>"
        f"<style>{_asset('page.css')}</style></head><body>"
        + "\n".join(body)
        + f"<script>{_asset('page.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return files("dl_conformance").joinpath(name).read_text(encoding="utf-8")


def name_of(report: Report) -> str:
    """Return the vendor of a report, with its version."""
    return called(report["vendor"])


def _summary(reports: Sequence[Report], names: Sequence[str]) -> str:
    shown = [x for x in COUNTED if any(r["counts"].get(x) for r in reports)]
    heads = "".join(f"<th>{escape(x)}" for x in ("operators", "cases", *shown, "seconds"))
    rows = []
    for report, name in zip(reports, names, strict=True):
        counts = report["counts"]
        run = sum(any(_ran(cell) for cell in x.values()) for x in report["operators"].values())
        numbers = (f"{run} of {len(report['operators'])}", sum(counts.values()))
        cells = [*numbers, *(counts.get(x, 0) for x in shown), f"{report['seconds']:.1f}"]
        rows.append(f"<tr><th>{escape(name)}" + "".join(f"<td>{x}" for x in cells))
    return f"<table class=summary><tr><th>{heads}{''.join(rows)}</table>"


def _ran(cell: Mapping[str, Any]) -> bool:
    return any(cell.get(x) for x in WORST_FIRST if x != "unsupported")


def _failures(report: Report, name: str) -> str:
    failed = [x for x in report["cases"] if x["status"] == "failed"]
    if not failed:
        return ""
    items = []
    pairs = ((x["operator"], x.get("cause", "")) for x in failed)
    for (operator, cause), cases in clustered(zip(pairs, failed, strict=True)):
        detail = escape(cases[0].get("detail", ""))
        items.append(
            f"<details><summary><b>{escape(operator)}</b> {escape(cause)} "
            f"<span class=count>{len(cases)}</span></summary>"
            f"<p><code>{escape(cases[0]['name'])}</code><pre>{detail}</pre></details>"
        )
    return f"<h2>What is wrong with {escape(name)}</h2>{''.join(items)}"


def _conversions(report: Report, name: str) -> str:
    """Render the conversions by the vendor's adaptor; "" for a vendor without one."""
    rows = "".join(
        f"<tr><th>{escape(operator)}<td>{escape(what)}<td>{times}"
        for operator, found in report.get("conversions", {}).items()
        for what, times in found.items()
    )
    adapted = report["vendor"].get("adapted")
    if not adapted:
        return ""
    return (
        f"<h2>Conversions by the adaptor of {escape(name)}</h2><p>{escape(adapted)}.</p>"
        f"<details><summary>by operator</summary><table class=summary>{rows}</table></details>"
    )


def _histogram(report: Report, name: str) -> str:
    worst = [x["worst"] for x in report["cases"] if x.get("worst") is not None]
    # An exact result that is wrong has an infinite error, which JSON cannot represent.
    wrong = [x for x in report["cases"] if x.get("cause", "").startswith("wrong")]
    worst += [math.inf for x in wrong if x.get("worst") is None]
    counts = Counter(next((i for i, e in enumerate(EDGES) if x <= e), len(EDGES)) for x in worst)
    tallest = max(counts.values(), default=1)
    bars = []
    for at, label in enumerate(EDGE_NAMES):
        height = round(100 * counts[at] / tallest)
        height = max(height, 1) if counts[at] else 0
        kind = "over" if at == len(EDGES) else "bar"
        left, middle = 8 + 46 * at, 27 + 46 * at
        bars.append(
            f"<rect class={kind} x={left} y={120 - height} width=38 height={height} />"
            f"<text x={middle} y={114 - height}>{counts[at] or ''}</text>"
            f"<text x={middle} y=136>{label}</text>"
        )
    return (
        f"<figure><figcaption>{escape(name)}, {len(worst)} cases</figcaption>"
        f"<svg viewBox='0 0 430 144' role=img aria-label='errors of {escape(name)}'>"
        f"{''.join(bars)}</svg></figure>"
    )


def _legend() -> str:
    items = "".join(
        f"<li><span class='cell {_class(status)}'>{_glyph(status, {status: 1})}</span> {meaning}"
        for status, meaning in LEGEND.items()
    )
    return (
        f"<ul class=legend>{items}</ul><p><label>Operators <input id=filter type=search "
        "placeholder='Conv, norm, …'></label> <label><input id=wrong type=checkbox> only those "
        "with failures</label> <label><input id=lacking type=checkbox> only those missing from a "
        "vendor</label></p>"
    )


def _dtypes(reports: Iterable[Report]) -> list[str]:
    used = {d for report in reports for row in report["operators"].values() for d in row}
    order = [*expand_dtypes("float"), *expand_dtypes("complex")]
    return [x for x in order if x in used] + sorted(used.difference(order))


def _matrix(reports: Sequence[Report], names: Sequence[str]) -> str:
    dtypes = _dtypes(reports)
    vendors = "".join(f"<th class=vendor colspan={len(dtypes)}>{escape(x)}" for x in names)
    heads = "".join(f"<th class=dtype><span>{escape(x)}</span>" for x in dtypes) * len(reports)
    present = {name for report in reports for name in report["operators"]}
    families: dict[str, list[str]] = {}
    for name in (*(x for x in load() if x in present), *sorted(present.difference(load()))):
        family = load()[name].family if name in load() else "of another contract"
        families.setdefault(family, []).append(name)
    rows = []
    for family, operators in sorted(families.items()):
        span = 1 + len(dtypes) * len(reports)
        rows.append(f"<tbody><tr class=family><th colspan={span}>{escape(family)}")
        rows += [_row(name, reports, dtypes) for name in operators]
    return (
        f"<div class=wide><table class=matrix><thead><tr><th>{vendors}"
        f"<tr><th>{heads}</thead>{''.join(rows)}</table></div>"
    )


def _row(operator: str, reports: Sequence[Report], dtypes: Sequence[str]) -> str:
    cells, marks = [], set()
    for report in reports:
        row = report["operators"].get(operator, {})
        if any(cell.get("failed") for cell in row.values()):
            marks.add("wrong")
        if not any(_ran(cell) for cell in row.values()):
            marks.add("lacking")
        for at, dtype in enumerate(dtypes):
            cells.append(_cell(operator, dtype, row.get(dtype), at == 0))
    classes = f" class='{' '.join(sorted(marks))}'" if marks else ""
    return f"<tr data-operator='{escape(operator)}'{classes}><th>{escape(operator)}{''.join(cells)}"


def _cell(operator: str, dtype: str, cell: Mapping[str, Any] | None, first: bool) -> str:
    edge = " first" if first else ""
    if cell is None:
        return f"<td class='none{edge}'>"
    status = next(x for x in WORST_FIRST if cell.get(x))
    counts = ", ".join(f"{cell[x]} {x}" for x in COUNTED if cell.get(x))
    worst = f"; worst {cell['worst']:.3g} of its bound" if "worst" in cell else ""
    title = escape(f"{operator} {dtype}: {counts}{worst}")
    return f"<td class='cell {_class(status)}{edge}' title='{title}'>{_glyph(status, cell)}"


def _class(status: str) -> str:
    return status.replace(" ", "-")


def _glyph(status: str, cell: Mapping[str, Any]) -> str:
    """Return the text of a cell, so that its color is not needed."""
    if status == "passed":
        worst = cell.get("worst", 0.0)
        return f"{worst:.2f}".lstrip("0") if worst >= 0.005 else "✓"
    if status == "failed":
        return f"✗{cell[status]}"
    return {"known failure": "!", "unsupported": "-"}.get(status, "·")
