"""Charts of reports: contents of narrow windows, and names that stay distinct."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from dl_report import charts
from dl_report.labels import breakable, shortened
from dl_report.page import render_page

NAMES = [
    "aten.convolution_backward.default float32[8, 64, 56, 56]",
    "aten.convolution_backward.output_mask float32[8, 64, 56, 56]",
    "aten.mm",
]


def forms_of(html: str) -> dict[str, ET.Element]:
    """Return the wide and the narrow form of a chart."""
    found = {}
    for form in ("wide", "narrow"):
        text = re.search(rf'<div class="{form}"><div class="chart">(<svg.*?</svg>)', html)
        assert text is not None, form
        found[form] = ET.fromstring(text[1])
    return found


def bars() -> str:
    return charts.bars(
        [charts.Bar(name, [(3.0, "first"), (1.0, "rest")], "4 ms") for name in NAMES], 430
    )


def rows() -> str:
    return charts.samples(
        [charts.Samples(name, [1.0, 1.2], (0.9, 1.1, 1.3), "x") for name in NAMES], "ratio", 1
    )


@pytest.mark.parametrize("draw", [bars, rows])
def test_a_narrow_window_shows_the_data_beside_every_label(draw: Callable[[], str]) -> None:
    for form, drawn in forms_of(draw()).items():
        width = float(drawn.attrib["width"])
        assert width <= 420 or form == "wide"
        groups = drawn.findall("g")
        assert len(groups) == len(NAMES)
        for group in groups:
            marks = [x for x in group if x.tag in ("rect", "circle")]
            assert len(marks) == 2
            for mark in marks:
                left = float(mark.attrib.get("x", mark.attrib.get("cx", "")))
                assert 0 <= left < width
            assert sum(float(mark.attrib.get("width", 8)) for mark in marks) > 12


def test_charts_with_axes_fit_a_narrow_window() -> None:
    points = [charts.Point(10.0**power, 1e9, 1.0, "forward", "p") for power in range(-2, 5)]
    line = charts.Line([(0.01, 1e8), (1.0, 1e10), (1e5, 1e10)], "float32")
    for html in (
        charts.logarithmic(points, [line], ("operations per byte", "rate")),
        charts.over_time([line], ("seconds", "MiB")),
        charts.strip([("forward", 2.0, "forward"), ("backward", 1.0, "backward")]),
    ):
        drawn = forms_of(html)["narrow"]
        width = float(drawn.attrib["width"])
        assert width <= 420
        for circle in drawn.iter("circle"):
            assert 0 < float(circle.attrib["cx"]) < width


def test_ticks_of_a_narrow_logarithmic_axis_do_not_overlap() -> None:
    points = [charts.Point(10.0**power, 1.0, 1.0, "forward", "p") for power in range(-8, 9)]
    drawn = forms_of(charts.logarithmic(points, [], ("x", "y")))["narrow"]
    ticks = [x for x in drawn.iter("text") if x.attrib["class"] == "tick"]
    across = sorted(float(x.attrib["x"]) for x in ticks if x.attrib["text-anchor"] == "middle")
    assert len(across) >= 3
    assert min(b - a for a, b in itertools.pairwise(across)) > 30


@pytest.mark.parametrize("most", [8, 12, 20, 30])
def test_shortened_names_stay_different(most: int) -> None:
    names = [
        *NAMES,
        *(f"{scope}.encoder.layer.0.attention.self.query.weight" for scope in ("bert", "gpt")),
        *("x" * 40 + end for end in ("", "y", "yy")),
        *("z" * 40 + f"{middle}" + "z" * 40 for middle in range(3)),
        NAMES[0],
    ]
    found = shortened(names, most)
    assert all(len(short) <= most for short in found)
    assert len(set(found)) == len(set(names))
    assert found[0] == found[-1]
    assert found[2] == "aten.mm"


def test_names_break_at_their_separators_only() -> None:
    text = "torch.nn.functional.scaled_dot_product_attention <at> a::b(c) 1.5"
    broken = breakable(text)
    assert re.sub("<wbr>", "", broken) == text.replace("<", "&lt;").replace(">", "&gt;")
    words = re.split(r"<wbr>|[ .]", broken)
    assert "functional" in words
    assert "attention" in words
    assert "anywhere" not in render_page("t", [])[: render_page("t", []).index("pre {")]
