"""A page for each benchmark whose measurements are kept in benchmarks/results."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.record_benchmark import RESULTS, session_of
from tools.site.table import ROOT

FOLDER = "reference/benchmarks"
SCRIPTS = ROOT / "benchmarks"
SHOWN = 40
"""Longest table that is shown completely."""


class Benchmarks:
    """The pages of all recorded benchmarks."""

    def nav(self) -> list[Any]:
        """Return the list of benchmarks, then their pages."""
        return [f"{FOLDER}/index.md", *recorded_pages().values()]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the list and the page of each benchmark."""
        found = {path.stem: json.loads(path.read_text("utf-8")) for path in _recorded()}
        yield f"{FOLDER}/index.md", index_page(found)
        for name, recorded in found.items():
            about = docstring(SCRIPTS / f"{name}.py")
            yield f"{FOLDER}/{_address(name)}", page(name, about, recorded)


def recorded_pages() -> dict[str, str]:
    """Return the addresses of pages by the file with the measurements."""
    return {str(path.relative_to(ROOT)): f"{FOLDER}/{_address(path.stem)}" for path in _recorded()}


def _address(name: str) -> str:
    """Return the address of a benchmark's page relative to that of the list."""
    return f"{session_of(name).removeprefix('bench-')}.md"


def _recorded() -> list[Path]:
    return sorted(RESULTS.glob("*.json"))


def docstring(script: Path) -> str:
    """Return the description of a benchmark, without its usage."""
    text = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
    blocks = text.split("\n\n")
    return "\n\n".join(block for block in blocks if not block.startswith("    "))


def index_page(found: Mapping[str, Any]) -> str:
    """Return the list of benchmarks, with the machine and date of each."""
    rows = [
        f"| [{name}]({_address(name)}) | `{x['command']}` | {x['machine']} | {x['date']} |"
        for name, x in found.items()
    ]
    head = "| benchmark | command | machine | date |\n| --- | --- | --- | --- |"
    about = (
        "Measurements that are kept in `benchmarks/results`, one page for each benchmark. "
        "[Performance](../../explanation/performance.md) says how times are compared."
    )
    return "\n\n".join(["# Benchmarks", about, "\n".join([head, *rows])]) + "\n"


def page(name: str, about: str, recorded: Mapping[str, Any]) -> str:
    """Return the page of one benchmark."""
    facts = (
        f"Command: `{recorded['command']}`. Machine: {recorded['machine']}. "
        f"Date: {recorded['date']}, commit `{recorded['commit']}`."
    )
    return "\n\n".join([f"# {session_of(name)}", about, facts, *_blocks(recorded)]) + "\n"


def _blocks(recorded: Mapping[str, Any]) -> Iterator[str]:
    measured = recorded["measured"]
    tables: Mapping[str, Any] = measured if isinstance(measured, Mapping) else {"rows": measured}
    single = {key: value for key, value in tables.items() if _is_single(value)}
    if single:
        yield _table([{"figure": key, "value": value} for key, value in single.items()])
    for title, value in tables.items():
        if title not in single:
            yield f"## {title.replace('_', ' ').capitalize()}"
            yield from _format_rows(_rows(value))


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _rows(value: Any) -> list[dict[str, Any]]:
    """Return a table for a list of rows, a mapping of rows, or a mapping of figures."""
    if isinstance(value, Mapping):
        return [
            {"": key, **(_flat(row) if isinstance(row, Mapping) else {"value": row})}
            for key, row in value.items()
        ]
    return [_flat(row) if isinstance(row, Mapping) else {"value": row} for row in value]


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key} "))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _format_rows(rows: list[dict[str, Any]]) -> Iterator[str]:
    ordered = rows
    if len(rows) > SHOWN and all(isinstance(row.get("ratio"), int | float) for row in rows):
        ordered = sorted(rows, key=lambda row: -float(row["ratio"]))
        yield f"The {SHOWN} highest ratios of {len(rows)} rows; `benchmarks/results` has all."
    elif len(rows) > SHOWN:
        yield f"The first {SHOWN} of {len(rows)} rows; `benchmarks/results` has all."
    yield _table(ordered[:SHOWN])


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(key for row in rows for key in row))
    numeric = {name: all(not isinstance(row.get(name), str) for row in rows) for name in names}
    lines = [
        f"| {' | '.join(name.replace('_', ' ') for name in names)} |",
        f"| {' | '.join('---:' if numeric[name] else '---' for name in names)} |",
        *(f"| {' | '.join(_cell(row.get(name)) for name in names)} |" for row in rows),
    ]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    if isinstance(value, list):
        return ", ".join(_cell(part) for part in value)
    return "" if value is None else str(value).replace("|", "\\|")
