"""HTML page of the overflow check's results."""

from __future__ import annotations

from dl_optools.overflow.results import OverflowResults
from dl_report import page
from dl_report.page import Cell


def overflow_page(results: OverflowResults) -> str:
    """Return the page: the origin of nan and inf first, then values by operator."""
    operators = results.operators.values()
    bad, tensors = sum(x.bad for x in operators), sum(x.tensors for x in operators)
    sections = [
        page.heading("Where nan and inf come from", []),
        page.tiles([(f"{bad} of {tensors}", "tensors hold nan or inf"), (results.calls, "calls")]),
    ]
    if results.first is not None:
        others = ", ".join(dict.fromkeys(x.name for x in results.origins))
        text = f"Operators that also made some from finite values: {others}."
        sections.append(
            page.section("The first one", text, page.preformatted(results.first.text()))
        )
    rows: list[list[Cell]] = [
        [
            each.name,
            each.tensors,
            each.bad,
            each.nan,
            each.inf,
            (f"{each.minimum:.4g}", each.minimum),
            (f"{each.maximum:.4g}", each.maximum),
            (f"{each.norm:.4g}", each.norm),
        ]
        for each in sorted(operators, key=lambda x: (-x.bad, x.name))
    ]
    heads = ["operator", "tensors", "bad", "nan", "inf", "min", "max", "largest norm"]
    text = "Range of the finite values of all tensors; the norm is the largest tensor's."
    sections.append(page.section("Operators", text, page.table(heads, rows)))
    return page.render_page("Where nan and inf come from", sections)
