"""Page of a time measurement, and its plots."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from dl_optools.budget import Spending
from dl_optools.timing.report import report, write_report
from dl_optools.timing.results import TimeResults, rate_text, shapes_text
from dl_optools.timing.roofline import Roofline
from dl_optools.timing.spans import Row
from dl_report import charts
from dl_report.page import render_page, table


def a_row(operator: str, level: str, seconds: float, **values: object) -> Row:
    row = Row(operator, level, bool(values.pop("backward", False)), "", ((2, 3),), ("float32",))
    row.calls, row.seconds, row.own, row.samples = 2, seconds, seconds, [seconds / 2]
    for name, value in values.items():
        setattr(row, name, value)
    return row


@pytest.fixture
def results() -> TimeResults:
    return TimeResults(
        rows=[
            a_row("torch.mm", "function", 0.4, own=0.1),
            a_row("torch.mm", "function", 0.3, backward=True, own=0.3),
            a_row(
                "aten.mm.default",
                "overload",
                0.3,
                function="torch.mm",
                bytes=3e8,
                flops={"float32": 3e10},
            ),
            a_row("aten.<b>&.default", "overload", 0.1, bytes=1e9),
        ],
        device="cpu: 2 threads",
        clock="host clock",
        steps=2,
        seconds=1.0,
        spending=Spending(100, 3, 50.0, 0.5, 2.0),
        roofline=Roofline("cpu", 1e10, {"float32": 2e11}),
    )


def test_shares_and_attained_rates(results: TimeResults) -> None:
    assert results.share(0.25) == 0.25
    assert results.elsewhere == pytest.approx(0.2)
    assert results.attained_share(results.rows[2]) == pytest.approx(0.5)
    assert results.attained_share(results.rows[3]) == pytest.approx(1.0)
    assert results.attained_share(results.rows[0]) is None
    assert [row.operator for row in results.outermost()] == [
        "torch.mm",
        "torch.mm",
        "aten.<b>&.default",
    ]


def test_the_table_shows_the_outermost_first(results: TimeResults) -> None:
    lines = results.table().splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["torch.mm", "forward"],
        ["torch.mm", "backward"],
        ["aten.<b>&.default", "forward"],
    ]
    assert "a step takes 500.000 ms, 20.0% of it outside of operators" in lines
    assert "3 of 100 steps measured; the tool took 1 % of the program's time (budget 2 %)" in lines


def test_the_page_stands_alone(results: TimeResults, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(results, path)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""(src|href|url|@import)\s*[=(]""", text)
    assert "prefers-color-scheme: dark" in text
    # Both themes define every colour.
    for variable in set(re.findall(r"var\(--([a-z]+)\)", text)):
        assert text.count(f"--{variable}:") == 2, variable


def test_names_are_text_and_not_markup(results: TimeResults) -> None:
    text = report(results)
    assert "aten.<b>" not in text
    assert "aten.&lt;b&gt;&amp;.default" in text


def test_every_plot_is_well_formed(results: TimeResults) -> None:
    plots = re.findall(r"<svg.*?</svg>", report(results), flags=re.DOTALL)
    assert len(plots) == 2 * 4  # for wide and for narrow windows
    for plot in plots:
        ElementTree.fromstring(plot)


def test_an_empty_measurement_has_a_page() -> None:
    assert "Operator times" in report(TimeResults())
    assert "0.000 ms" in TimeResults().table()


def wide_form(chart: str) -> ElementTree.Element:
    """Return the part of a chart that wide windows show."""
    return ElementTree.fromstring(f"<both>{chart}</both>")[0]


def test_bars_are_as_long_as_their_values() -> None:
    drawn = wide_form(
        charts.bars(
            [charts.Bar("a", [(1.0, "x"), (3.0, "y")], "4"), charts.Bar("b", [(2.0, "x")], "2")]
        )
    )
    widths = [float(rect.attrib["width"]) for rect in drawn.iter("rect")]
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.1)
    assert widths[2] == pytest.approx(2 * widths[0], abs=0.1)


def test_logarithmic_axes_hold_every_point() -> None:
    points = [charts.Point(x, x**2, 1.0, "forward", "") for x in (0.02, 1.0, 5e4)]
    drawn = wide_form(
        charts.logarithmic(points, [charts.Line([(0.02, 1.0), (5e4, 1.0)], "limit")], ("x", "y"))
    )
    places = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in drawn.iter("circle")]
    assert all(76 <= x <= 1010 and 12 <= y <= 368 for x, y in places)
    assert "10m" in [text.text for text in drawn.iter("text")]


def test_lines_over_time_begin_at_zero() -> None:
    drawn = wide_form(
        charts.over_time([charts.Line([(0, 10.0), (8, 930.0)], "a", "first")], ("seconds", "MiB"))
    )
    ticks = [text.text for text in drawn.iter("text") if text.attrib["class"] == "tick"]
    assert ticks[:5] == ["0", "2", "4", "6", "8"]
    assert ticks[5:11] == ["0", "200", "400", "600", "800", "1000"]


def test_cells_sort_by_their_numbers() -> None:
    text = table(("name", "rate"), [("a", ("1 GB/s", 1e9)), ("b", ("", None))])
    assert 'data-sort="1e+09"' in text and 'data-sort=""' in text
    assert "<script>" in render_page("t", [text])


def test_units() -> None:
    assert rate_text(3e9, 2.0, "B") == "1.5 GB/s"
    assert rate_text(5e3, 1.0, "FLOP") == "5 kFLOP/s"
    assert rate_text(0, 1.0, "B") == ""
    shapes = [(2, 3)] * 6
    assert shapes_text(shapes, ["float32"] * 6) == "f32[2,3] f32[2,3] f32[2,3] f32[2,3] +2"


def test_an_outlier_does_not_lead(results: TimeResults) -> None:
    outlier = a_row("torch.dropout", "function", 9.0, calls=10, samples=[0.001] * 9 + [8.99])
    results.rows.append(outlier)
    operators = [line.split()[0] for line in results.table().splitlines()]
    assert operators.index("torch.mm") < operators.index("torch.dropout")


def test_rates_above_the_roof_and_doubtful_roofs_are_marked(results: TimeResults) -> None:
    results.rows[3].bytes = 5e9
    results.roofline = Roofline("cpu", 1e10, {"float32": 2e11}, ("the roof of copy is in doubt",))
    told = results.table()
    assert ">500%" in told and "faster than the measured roof" in told and "in doubt" in told
