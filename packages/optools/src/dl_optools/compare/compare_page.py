"""What autocompare found, as a page for the browser and as a table over ranks. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dl_core.pages import page
from dl_core.pages.page import Cell

Found = Mapping[str, Any]
Labelled = Sequence[tuple[str, Found]]
"""What :meth:`.AutoCompareResults.as_json` has of each process, with a name such as ``rank 1``."""


def number(value: Any) -> float:
    """Of a field that may be null or a word: nan and inf."""
    return float("nan" if value is None else value)


def merged(ranks: Labelled) -> dict[str, dict[str, Any]]:
    """Operators of all ranks: counts, the worst units, and on which ranks they were wrong."""
    found: dict[str, dict[str, Any]] = {}
    for label, each in ranks:
        for name, one in each["operators"].items():
            empty: dict[str, Any] = {"checked": 0, "failed": 0, "units": None, "ranks": []}
            all_of_it = found.setdefault(name, empty)
            all_of_it["checked"] += one["checked"]
            all_of_it["failed"] += one["failed"]
            known, here = number(all_of_it["units"]), number(one["units"])
            if not here <= known:
                all_of_it["units"] = one["units"] if here == here else all_of_it["units"]
            if one["failed"]:
                all_of_it["ranks"].append(label)
    return found


def compare_page(ranks: Labelled) -> str:
    """The text of the page."""
    operators = merged(ranks)
    totals = {key: sum(each[key] for _, each in ranks) for key in ("calls", "checked", "failed")}
    wrong = [name for name, each in operators.items() if each["failed"]]
    devices = sorted({str(x["device"]) for _, x in ranks if x.get("device")})
    notes = [f"looked at: operators on {', '.join(devices)}"] if devices else []
    notes += [f"{label}: {x['failed']} of {x['checked']} wrong" for label, x in ranks if label]
    notes += [f"{label}: {x['coverage']}".removeprefix(": ") for label, x in ranks if x["coverage"]]
    sections = [
        page.heading("Operators against the CPU's float64", notes),
        page.tiles(
            [
                (
                    str(len(wrong)),
                    "operators are wrong" if len(wrong) != 1 else "operator is wrong",
                ),
                (f"{totals['failed']} of {totals['checked']}", "comparisons failed"),
                (str(totals["calls"]), "calls with a reference"),
            ]
        ),
    ]
    for name in wrong:
        told = next(x["failures"][name] for _, x in ranks if name in x["failures"])
        sections.append(page.section(name, "The first wrong call.", page.preformatted(told)))
    several = len(ranks) > 1
    rows: list[list[Cell]] = [
        [
            name,
            (str(each["checked"]), each["checked"]),
            (str(each["failed"]), each["failed"]),
            (f"{number(each['units']):.3g}", number(each["units"])),
            *([", ".join(each["ranks"])] if several else []),
        ]
        for name, each in sorted(operators.items(), key=lambda x: (-x[1]["failed"], x[0]))
    ]
    heads = ["operator", "checked", "failed", "worst x bound"]
    heads += ["wrong on"] if several else []
    if rows:
        text = "Worst error in units of the rounding bound: above 1 is wrong."
        sections.append(page.section("All operators", text, page.sortable(heads, rows)))
    return page.page("Operators against the CPU's float64", sections)
