"""Tables, plot and JSON of the main job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from rich.console import Console
from rich.table import Table

from .compare import Distance, Result
from .operators import merge

TOP_FALLBACKS = 10
MIB = 1 << 20


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    return table


def _gap(distance: Distance) -> str:
    return f"{distance.largest:.1e} ({distance.mean:.1e})"


def training_table(results: Sequence[Result]) -> Table:
    """Return one row per case: distance of the curves, and step time compared with torch's CPU."""
    table = _table(
        "Training: |loss dl - loss cpu| as largest (mean); 'cpu own': with other roundings",
        *("case", "accuracy dl / cpu", "distance", "cpu own", "step ms dl / cpu", "ratio"),
    )
    for result in results:
        runs = result.measurement
        table.add_row(
            runs.case.name,
            f"{runs.dl.accuracy:.2%} / {runs.cpu.accuracy:.2%}",
            _gap(result.distance),
            _gap(result.own_distance),
            f"{result.step_dl * 1e3:.1f} / {result.step_cpu * 1e3:.1f}",
            f"{result.step_dl / result.step_cpu:.2f}",
        )
    return table


def operator_table(results: Sequence[Result]) -> Table:
    """Return one row per case: native fraction of the leaf calls, and peak memory."""
    table = _table(
        "Native share of leaf operator calls (no views, metadata, allocation, copies); peak memory",
        *("case", "leaf calls", "by count", "by time", "dl allocated MiB", "process MiB dl / cpu"),
    )
    for result in results:
        runs = result.measurement
        table.add_row(
            runs.case.name,
            str(result.share.calls),
            f"{result.share.by_calls:.1%}",
            f"{result.share.by_time:.1%}",
            f"{runs.dl.peak_allocated / MIB:.0f}",
            f"{runs.dl.peak_resident / MIB:.0f} / {runs.cpu.peak_resident / MIB:.0f}",
        )
    return table


def fallback_table(results: Sequence[Result]) -> Table:
    """Return the operators with the most time outside of the vendor, over all cases."""
    table = _table("Top fallbacks, by time", "overload", "calls", "ms")
    for entry in merge(result.fallbacks for result in results)[:TOP_FALLBACKS]:
        table.add_row(entry.overload, str(entry.calls), f"{entry.seconds * 1e3:.1f}")
    return table


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw the loss curves of every case, on dl and on the CPU, into a PNG file."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = max(1, (len(results) + 1) // 2)
    figure, axes = pyplot.subplots(2, columns, figsize=(4.5 * columns, 6.5), squeeze=False)
    # Column by column, so that the two precisions of an example are above each other.
    for place, result in zip(axes.T.flat, results, strict=False):
        runs = result.measurement
        place.plot(runs.cpu.losses, color="tab:gray", linewidth=3, alpha=0.6, label="cpu")
        place.plot(runs.dl.losses, color="tab:red", linewidth=1, label="dl")
        place.set(title=runs.case.name, xlabel="step", ylabel="loss")
        place.legend()
    for place in list(axes.T.flat)[len(results) :]:
        place.set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def write(results: Sequence[Result], folder: Path, header: dict[str, Any]) -> None:
    """Write ``report.json``, ``report.txt`` and ``curves.png``, and print the tables."""
    document = {**header, "cases": [result.as_json() for result in results]}
    (folder / "report.json").write_text(json.dumps(document, indent=1))
    draw(results, folder / "curves.png")
    tables = (training_table(results), operator_table(results), fallback_table(results))
    title = ", ".join(f"{name} {value}" for name, value in header.items())
    with (folder / "report.txt").open("w") as file:
        # A fixed width, so that logs and files have the same tables.
        for console in (Console(width=110), Console(width=110, file=file)):
            console.print(title)
            console.print(*tables, sep="\n")
