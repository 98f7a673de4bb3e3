"""Self-contained HTML page for one report, or for several side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diopi_proto.schema import expand_dtypes, load
from dl_report import charts
from dl_report import page as html
from dl_report.page import Cell, Html

from .model_table import as_rows
from .outcome import NOT_IMPLEMENTED
from .results import COUNTED, called, clustered, reason

Report = Mapping[str, Any]

WORST_FIRST = ("failed", "known failure", "passed", "unchecked", "skipped", "unsupported")
"""Statuses in order of precedence: a cell shows the first one that its cases have."""
EDGES = (0.0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Upper edges of the histogram's bins, in units of the error bound."""
EDGE_NAMES = ("0", "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "more")
LEGEND = (
    ("passed", "✓ or .25: passed; the number is the worst element in units of its bound"),
    ("failed", "✗1: number of failed cases"),
    ("known", "!: fails, and is on the vendor's list of known failures"),
    ("panel", "-: not implemented, or the dtype is declined"),
    ("panel", "·: ran, with nothing to check"),
)
ERRORS = "Cases by their worst element, in units of its error bound. Results above 1 are wrong."
DECLINES = (
    "Calls of operators that the library has, with its own words and the code that it returned."
)
MODELS = (
    "Results of all calls of a model at its published shapes, by dtype of the call, with the "
    "operators that are missing or wrong."
)


def page(reports: Sequence[Report]) -> str:
    """Render the page.

    :param reports: as :meth:`.results.Results.as_dict` makes them.
    """
    names, models = [name_of(report) for report in reports], as_rows(reports)
    each = list(zip(reports, names, strict=True))
    content = [
        html.heading(f"Conformance of {' and '.join(names)}"),
        _summary(each),
        *(_failures(*x) for x in each),
        *(_declines(*x) for x in each),
        html.section("Error distribution", ERRORS, *(_histogram(*x) for x in each)),
        *(_conversions(*x) for x in each),
        html.section("Models", MODELS, _template("models", names, models)) if models else Html(),
        html.section("Operators and dtypes", "", html.key(LEGEND), _matrix(reports, names)),
    ]
    return html.render_page(f"Conformance: {', '.join(names)}", content)


def _template(name: str, *arguments: object) -> Html:
    return html.macro(name, "matrix.jinja", __package__)(*arguments)


def name_of(report: Report) -> str:
    """Return the vendor of a report, with its version."""
    return called(report["vendor"])


def _summary(reports: Sequence[tuple[Report, str]]) -> Html:
    shown = [x for x in COUNTED if any(report["counts"].get(x) for report, _ in reports)]
    rows: list[list[Cell]] = []
    for report, name in reports:
        counts, operators = report["counts"], report["operators"].values()
        run = sum(any(map(_ran, cells.values())) for cells in operators)
        numbers = [sum(counts.values()), *(counts.get(x, 0) for x in shown)]
        of_all, seconds = (f"{run} of {len(operators)}", run), round(report["seconds"], 1)
        rows.append([name, of_all, *numbers, seconds])
    return html.table(["vendor", "operators", "cases", *shown, "seconds"], rows, filtered=False)


def _ran(cell: Mapping[str, Any]) -> bool:
    return any(cell.get(x) for x in WORST_FIRST if x != "unsupported")


def _failures(report: Report, name: str) -> Html:
    failed = [x for x in report["cases"] if x["status"] == "failed"]
    if not failed:
        return Html()
    pairs = ((x["operator"], x.get("cause", "")) for x in failed)
    items = []
    for (operator, cause), cases in clustered(zip(pairs, failed, strict=True)):
        example = html.paragraph(cases[0]["name"]), html.preformatted(cases[0].get("detail", ""))
        items.append(html.folded(cause, *example, lead=operator, count=len(cases)))
    return html.section(f"What is wrong with {name}", "", *items)


def _declines(report: Report, name: str) -> Html:
    """Render why the library declined calls of operators that it has; empty if it did not."""
    unsupported = [x for x in report["cases"] if x["status"] == "unsupported"]
    declined = [x for x in unsupported if x.get("cause", "") != NOT_IMPLEMENTED]
    if not declined:
        return Html()
    keys = ((x["operator"], reason(x.get("cause", ""), x.get("detail", ""))) for x in declined)
    rows: list[list[Cell]] = [
        [operator, why, len(cases), cases[0]["name"]]
        for (operator, why), cases in clustered(zip(keys, declined, strict=True))
    ]
    reasons = html.table(["operator", "reason", "cases", "such as"], rows)
    return html.section(f"What {name} declines", DECLINES, html.folded("by operator", reasons))


def _conversions(report: Report, name: str) -> Html:
    """Render the conversions by the vendor's adaptor; empty for a vendor without one."""
    adapted = report["vendor"].get("adapted")
    if not adapted:
        return Html()
    rows: list[list[Cell]] = [
        [operator, what, times]
        for operator, found in report.get("conversions", {}).items()
        for what, times in found.items()
    ]
    counts = html.table(["operator", "conversion", "times"], rows)
    title = f"Conversions by the adaptor of {name}"
    return html.section(title, f"{adapted}.", html.folded("by operator", counts))


def _histogram(report: Report, name: str) -> Html:
    worst = [x["worst"] for x in report["cases"] if x.get("worst") is not None]
    # An exact result that is wrong has an infinite error, which JSON cannot represent.
    wrong = [x for x in report["cases"] if x.get("cause", "").startswith("wrong")]
    worst += [math.inf for x in wrong if x.get("worst") is None]
    counts = Counter(next((i for i, e in enumerate(EDGES) if x <= e), len(EDGES)) for x in worst)
    styles = ["forward"] * len(EDGES) + ["limit"]
    bars = [
        charts.Bar(label, [(counts[at], style)], str(counts[at] or ""))
        for at, (label, style) in enumerate(zip(EDGE_NAMES, styles, strict=True))
    ]
    return html.paragraph(f"{name}, {len(worst)} cases") + charts.bars(bars, label=60)


def _dtypes(reports: Iterable[Report]) -> list[str]:
    used = {d for report in reports for row in report["operators"].values() for d in row}
    order = [*expand_dtypes("float"), *expand_dtypes("complex")]
    return [x for x in order if x in used] + sorted(used.difference(order))


def _matrix(reports: Sequence[Report], names: Sequence[str]) -> Html:
    dtypes, schema = _dtypes(reports), load()
    present = {name for report in reports for name in report["operators"]}
    families: dict[str, list[object]] = {}
    for name in (*(x for x in schema if x in present), *sorted(present.difference(schema))):
        family = schema[name].family if name in schema else "of another contract"
        families.setdefault(family, []).append(_row(name, reports, dtypes))
    return _template("operators", names, dtypes, sorted(families.items()))


def _row(
    operator: str, reports: Sequence[Report], dtypes: Sequence[str]
) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return the name of an operator, the marks for the filters, and its cells."""
    rows = [report["operators"].get(operator, {}) for report in reports]
    wrong = any(cell.get("failed") for row in rows for cell in row.values())
    lacking = any(not any(map(_ran, row.values())) for row in rows)
    marks = " ".join(["lacking"] * lacking + ["wrong"] * wrong)
    return operator, marks, [_cell(f"{operator} {x}", row.get(x)) for row in rows for x in dtypes]


def _cell(name: str, cell: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Return the style, the tooltip and the text of a cell."""
    if cell is None:
        return "none", "", ""
    status = next(x for x in WORST_FIRST if cell.get(x))
    counts = ", ".join(f"{cell[x]} {x}" for x in COUNTED if cell.get(x))
    worst = f"; worst {cell['worst']:.3g} of its bound" if "worst" in cell else ""
    return f"cell {status.replace(' ', '-')}", f"{name}: {counts}{worst}", _glyph(status, cell)


def _glyph(status: str, cell: Mapping[str, Any]) -> str:
    """Return the text of a cell, so that its color is not needed."""
    if status == "passed":
        worst = cell.get("worst", 0.0)
        return f"{worst:.2f}".lstrip("0") if worst >= 0.005 else "✓"
    if status == "failed":
        return f"✗{cell[status]}"
    return {"known failure": "!", "unsupported": "-"}.get(status, "·")
