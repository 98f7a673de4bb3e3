"""Which models a vendor can run, by the outcomes of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .execute import Outcome

ModelsOf = Mapping[str, Sequence[str]]
"""The models that make a call, by the name of its case."""
Table = dict[str, dict[str, dict[str, Any]]]
BAD = {"failed": "wrong", "known failure": "wrong", "unsupported": "missing"}
"""What is said of an operator, by the status of its cases."""


def model_table(outcomes: Iterable[Outcome], models_of: ModelsOf) -> Table:
    """By model and dtype: the cases that passed, operators that are wrong, and missing ones."""
    found: Table = {}
    for outcome in outcomes:
        for model in models_of.get(outcome.name, ()):
            cell = found.setdefault(model, {}).setdefault(
                outcome.dtype, {"passed": 0, "wrong": [], "missing": []}
            )
            kind = BAD.get(outcome.status)
            if kind is None:
                cell["passed"] += 1
            elif outcome.operator not in cell[kind]:
                cell[kind].append(outcome.operator)
    return found


def as_html(reports: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """The tables of reports side by side; nothing where no case is of a model."""
    tables: list[Table] = [report.get("models", {}) for report in reports]
    models = list(dict.fromkeys(model for table in tables for model in table))
    if not models:
        return ""
    heads = "".join(f"<th>{escape(name)}" for name in names)
    rows = []
    for model in models:
        cells = "".join(f"<td>{_cell(table.get(model, {}))}" for table in tables)
        rows.append(f"<tr data-model='{escape(model)}'><th>{escape(model)}{cells}")
    return (
        "<h2>Models</h2><p>Whether every call of a model is right, at its published shapes, by "
        "the dtype of the call; else the operators that are missing or wrong.</p>"
        f"<div class=wide><table class=models><tr><th>{heads}{''.join(rows)}</table></div>"
    )


def _cell(dtypes: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    for dtype, cell in dtypes.items():
        problems = [
            f"{kind} {', '.join(cell[kind])}" for kind in ("wrong", "missing") if cell[kind]
        ]
        kind = "failed" if cell["wrong"] else "unsupported" if cell["missing"] else "passed"
        said = "; ".join(problems) or f"all {cell['passed']} calls"
        lines.append(f"<div class={kind}><b>{escape(dtype)}</b> {escape(said)}</div>")
    return "".join(lines) or "not run"
