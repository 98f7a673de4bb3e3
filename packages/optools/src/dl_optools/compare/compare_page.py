"""Results of autocompare as an HTML page, and merged over ranks. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dl_report import page
from dl_report.page import Cell

Found = Mapping[str, Any]
Labelled = Sequence[tuple[str, Found]]
"""A label such as ``rank 1`` and the :meth:`.AutoCompareResults.as_json` of each process."""


def to_float(value: Any) -> float:
    """Return a field that may be null or a word as a float: nan and inf."""
    return float("nan" if value is None else value)


def merge_ranks(ranks: Labelled) -> dict[str, dict[str, Any]]:
    """Merge the operators of all ranks: counts, largest error, and the ranks with failures."""
    found: dict[str, dict[str, Any]] = {}
    for label, each in ranks:
        for name, one in each["operators"].items():
            empty: dict[str, Any] = {"checked": 0, "failed": 0, "units": None, "ranks": []}
            all_of_it = found.setdefault(name, empty)
            all_of_it["checked"] += one["checked"]
            all_of_it["failed"] += one["failed"]
            known, here = to_float(all_of_it["units"]), to_float(one["units"])
            if not here <= known:
                all_of_it["units"] = one["units"] if here == here else all_of_it["units"]
            if one["failed"]:
                all_of_it["ranks"].append(label)
    return found


def compare_page(ranks: Labelled) -> str:
    """Return the HTML of the page."""
    operators = merge_ranks(ranks)
    totals = {key: sum(each[key] for _, each in ranks) for key in ("calls", "checked", "failed")}
    wrong = [name for name, each in operators.items() if each["failed"]]
    devices = sorted({str(x["device"]) for _, x in ranks if x.get("device")})
    notes = [f"examined: operators on {', '.join(devices)}"] if devices else []
    notes += [f"{label}: {x['failed']} of {x['checked']} wrong" for label, x in ranks if label]
    notes += [f"{label}: {x['coverage']}".removeprefix(": ") for label, x in ranks if x["coverage"]]
    sections = [
        page.heading("Operators against the CPU's float64", notes),
        page.tiles(
            [
                (
                    len(wrong),
                    "operators are wrong" if len(wrong) != 1 else "operator is wrong",
                ),
                (f"{totals['failed']} of {totals['checked']}", "comparisons failed"),
                (totals["calls"], "calls with a reference"),
            ]
        ),
    ]
    for name in wrong:
        failure = next(x["failures"][name] for _, x in ranks if name in x["failures"])
        sections.append(page.section(name, "The first wrong call.", page.preformatted(failure)))
    several = len(ranks) > 1
    rows: list[list[Cell]] = [
        [
            name,
            each["checked"],
            each["failed"],
            (f"{to_float(each['units']):.3g}", to_float(each["units"])),
            *([", ".join(each["ranks"])] if several else []),
        ]
        for name, each in sorted(operators.items(), key=lambda x: (-x[1]["failed"], x[0]))
    ]
    heads = ["operator", "checked", "failed", "worst x bound"]
    heads += ["wrong on"] if several else []
    if rows:
        text = "Worst error in units of the rounding bound: above 1 is wrong."
        sections.append(page.section("All operators", text, page.table(heads, rows)))
    return page.render_page("Operators against the CPU's float64", sections)
