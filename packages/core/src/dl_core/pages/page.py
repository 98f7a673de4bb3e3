"""Report as a self-contained HTML file, readable in light and dark mode."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .labels import breakable

_STYLE = """
:root { color-scheme: light dark;
  --page: #fff; --panel: #f5f6f8; --line: #d9dce3; --text: #1d2330; --quiet: #5c6475;
  --forward: #2f6fd0; --backward: #d9822b; --overload: #7a5cc4; --rest: #a9b0bd; --on: #fff;
  --limit: #b3394f; --third: #2a8f72; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171d; --panel: #1d222b; --line: #353c49; --text: #e6e9ef; --quiet: #9aa3b4;
  --forward: #6ea3f0; --backward: #f0a75a; --overload: #a890ea; --rest: #5b6474; --on: #10131a;
  --limit: #f07f92; --third: #5cc7a5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1230px; padding: 28px 24px 60px; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 25px; margin: 0 0 2px; } h2 { font-size: 18px; margin: 38px 0 6px; }
p { margin: 4px 0 12px; color: var(--quiet); max-width: 80ch; }
h1, h2, p, li, summary, .tile b { overflow-wrap: break-word; }
summary { cursor: pointer; color: var(--quiet); margin: 4px 0 12px; }
ul.notes { margin: 4px 0 0; padding-left: 18px; color: var(--quiet); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px;
  margin-top: 20px; }
.tile { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 14px; }
.tile b { display: block; font-size: 21px; font-weight: 600; }
.tile span { color: var(--quiet); font-size: 13px; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; overflow: auto;
  padding: 10px 14px; font-size: 12.5px; white-space: pre-wrap; overflow-wrap: anywhere; }
.chart { overflow-x: auto; }
svg { width: 100%; height: auto; display: block; }
.narrow { display: none; }
@media (max-width: 700px) { body { padding: 16px 12px 40px; } .scrolled svg { width: 1130px; }
  .wide { display: none; } .narrow { display: block; } }
svg text { font-size: 12.5px; fill: var(--text); }
svg .value, svg .tick, svg .axis { fill: var(--quiet); } svg .on { fill: var(--on); }
svg .grid { stroke: var(--line); fill: none; stroke-width: 1; }
.forward { fill: var(--forward); } .backward { fill: var(--backward); }
.overload { fill: var(--overload); } .rest { fill: var(--rest); } .third { fill: var(--third); }
circle { fill-opacity: .65; stroke: var(--page); }
path.limit, path.first, path.second { fill: none; stroke-width: 2; stroke: var(--limit); }
path.first { stroke: var(--forward); } path.second { stroke: var(--backward); }
.key { display: flex; flex-wrap: wrap; gap: 18px; color: var(--quiet); font-size: 13px;
  margin: 4px 0 8px; }
.key i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px;
  vertical-align: -1px; }
.scroll { overflow: auto; max-height: 620px; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; }
th, td { padding: 5px 7px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: var(--panel); cursor: pointer; user-select: none; }
th.text, td.text { text-align: left; } tbody tr:hover { background: var(--panel); }
td.text { max-width: 235px; overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 700px) { h1 { font-size: 20px; } td.text { max-width: 190px; min-width: 120px;
  white-space: normal; overflow-wrap: break-word; } }
th[data-order="down"]::after { content: " ↓"; } th[data-order="up"]::after { content: " ↑"; }
input { font: inherit; font-size: 13px; padding: 5px 10px; margin: 0 0 8px; width: 280px;
  color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
"""

_SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => head.addEventListener("click", () => {
    const down = head.dataset.order !== "down";
    heads.forEach((other) => delete other.dataset.order);
    head.dataset.order = down ? "down" : "up";
    const value = (row) => row.cells[at].dataset.sort ?? row.cells[at].textContent;
    const number = !head.classList.contains("text");
    const rows = [...body.rows].sort((a, b) => number
      ? Number(value(a) || -1) - Number(value(b) || -1) : value(a).localeCompare(value(b)));
    body.append(...(down ? rows.reverse() : rows));
  }));
  const filter = table.closest("section").querySelector("input");
  filter?.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
"""


def page(title: str, sections: Sequence[str]) -> str:
    """Return the complete file."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>"
        + "\n".join(sections)
        + f"<script>{_SCRIPT}</script></body></html>\n"
    )


def section(title: str, text: str, *content: str) -> str:
    """Return a section with a heading and a sentence."""
    return (
        f"<section><h2>{breakable(title)}</h2><p>{escape(text)}</p>"
        + "".join(content)
        + "</section>"
    )


def heading(title: str, notes: Sequence[str]) -> str:
    """Return the title of the page and notes below it."""
    items = "".join(f"<li>{breakable(note)}</li>" for note in notes)
    return f'<h1>{breakable(title)}</h1><ul class="notes">{items}</ul>'


def preformatted(text: str) -> str:
    """Return preformatted text; long lines wrap."""
    return f"<pre>{escape(text)}</pre>"


def folded(summary: str, text: str) -> str:
    """Return long text that is expanded by a click."""
    return f"<details><summary>{escape(summary)}</summary>{preformatted(text)}</details>"


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def tiles(values: Sequence[tuple[str, str]]) -> str:
    """Return the key figures, each with its description."""
    boxes = [
        f'<div class="tile"><b>{breakable(value)}</b><span>{escape(name)}</span></div>'
        for value, name in values
    ]
    return f'<div class="tiles">{"".join(boxes)}</div>'


def key(entries: Sequence[tuple[str, str]]) -> str:
    """Return the legend of the colors: variables of the style sheet, and their meanings."""
    items = [
        f'<span><i style="background: var(--{escape(color)})"></i>{escape(words)}</span>'
        for color, words in entries
    ]
    return f'<div class="key">{"".join(items)}</div>'


Cell = str | tuple[str, float | None]


def sortable(headers: Sequence[str], rows: Sequence[Sequence[Cell]], filtered: bool = True) -> str:
    """Return a table that is sorted by a click. Cells are text, or text and a sort value."""
    texts = [all(isinstance(row[at], str) for row in rows) for at in range(len(headers))]
    head = "".join(
        f"<th{_class(text)}>{escape(header)}</th>"
        for header, text in zip(headers, texts, strict=True)
    )
    lines = []
    for row in rows:
        cells = []
        for cell, text in zip(row, texts, strict=True):
            if isinstance(cell, str):
                cells.append(f'<td{_class(text)} title="{escape(cell)}">{breakable(cell)}</td>')
            else:
                shown, number = cell
                sort = "" if number is None else f"{number:.9g}"
                cells.append(f'<td data-sort="{sort}">{escape(shown)}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    search = '<input type="search" placeholder="filter" aria-label="filter">' if filtered else ""
    return (
        f'{search}<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _class(text: bool) -> str:
    return ' class="text"' if text else ""
