"""Pages stand alone, and show text of any origin as text."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser

import pytest

from dl_report import charts, page
from dl_report.labels import visible

HOSTILE = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"


class Elements(HTMLParser):
    """Parser that checks that elements are closed, and collects their attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in ("meta", "input", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data


def full_page(text: str) -> str:
    """Return a page with all elements and charts, each of which shows the text."""
    box = charts.Box(0, 1, 0.0, 1.0, text)
    point = charts.Point(1.0, 1.0, 1.0, "forward", text)
    line = charts.Line([(1.0, 1.0), (9.0, 9.0)], text)
    drawn = [
        charts.bars([charts.Bar(text, [(1.0, "forward")], text, text)]),
        charts.samples([charts.Samples(text, [1.0], (0.5, 1.0, 2.0), text)], text),
        charts.strip([(text, 1.0, "forward")]),
        charts.logarithmic([point], [line], (text, text)),
        charts.over_time([line], (text, text)),
        charts.boxes([box], 2, 1.0, text, lambda value: text),
        charts.heat((text, text), [text], [text], [[1.0]]),
    ]
    content = [
        page.heading(text, [text]),
        page.tiles([(text, text)]),
        page.key([("forward", text)]),
        page.section(text, text, page.paragraph(text), *drawn),
        page.folded(text, page.preformatted(text), lead=text, count=3),
        page.table([text, text], [(text, (text, 1.0)), (text, (text, None))]),
    ]
    return page.render_page(text, content)


def test_all_text_is_escaped() -> None:
    text = full_page(HOSTILE)
    assert text.count("<script>") == 1
    assert "alert(1)</script>" not in text
    shown = Elements(text)
    assert shown.text.count(HOSTILE) > 30
    assert {value for name, value in shown.attributes if name == "title"} == {HOSTILE}
    assert not any(name.startswith("on") for name, _ in shown.attributes)


def test_plain_strings_between_elements_are_escaped() -> None:
    text = page.render_page("t", [page.section("s", "", HOSTILE), HOSTILE])  # type: ignore[arg-type, list-item]
    assert Elements(text).text.count(HOSTILE) == 2


@pytest.mark.parametrize(
    "character", ["\0", "\x1b", "\x9b", "\u202e", "\u2066", "\u200f", "\ud800"]
)
def test_invisible_characters_are_shown(character: str) -> None:
    text = full_page(f"a{character}b\n\tc")
    assert character not in text
    text.encode("utf-8")
    escape = character.encode("unicode_escape").decode("ascii")
    assert Elements(text).text.count(f"a{escape}b\n\tc") > 30


def test_visible_text_is_unchanged() -> None:
    text = "naïve 漢字 → ✓ µs \N{NO-BREAK SPACE}🙂\n\tline"
    assert visible(text) == text


def test_a_page_stands_alone_in_light_and_dark_mode() -> None:
    text = full_page("text")
    assert text.startswith("<!doctype html>\n")
    assert not re.search(r"(src|href|url|@import)\s*[=(]|https?:", text)
    style = text[: text.index("</style>")]
    for variable in set(re.findall(r"var\(--([a-z-]+)\)", style)):
        assert style.count(f"--{variable}:") == 2, variable


def test_cells_have_the_values_by_which_they_sort() -> None:
    rows = [("a", ("1 GB/s", 1e9), 12), ("b", ("", None), True)]
    text = page.table(["name", "rate", "calls"], rows)
    assert re.findall(r'data-sort="([^"]*)">([^<]*)<', text) == [
        *(("1e+09", "1 GB/s"), ("12", "12")),
        *(("", ""), ("1", "True")),
    ]
    assert text.count('class="text"') == 3
    assert '<input type="search"' in text
    assert "<input" not in page.table(["name"], [], filtered=False)


def test_boxes_are_placed_by_columns_and_values() -> None:
    boxes = [charts.Box(0, 0, 0.0, 50.0, "a"), charts.Box(1, 3, 50.0, 100.0, "b")]
    drawn = charts.boxes(boxes, 4, 100.0, "call", "{:g}".format)
    pattern = r'<rect [^>]*x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    (x1, y1, w1, h1), (x2, y2, w2, h2) = (map(float, x) for x in re.findall(pattern, drawn)[:2])
    assert x1 < x1 + w1 < x2 and y2 < y2 + h2 < y1
    assert w2 == pytest.approx(3 * w1, abs=5) and h1 == h2


def test_a_page_can_be_written_when_the_interpreter_exits() -> None:
    program = (
        "import atexit, sys\nfrom dl_report import page\nassert 'jinja2' not in sys.modules\n"
        "atexit.register(lambda: sys.stdout.write(page.render_page('t', [page.heading('end')])))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "end" in unescape(Elements(done.stdout).text)
