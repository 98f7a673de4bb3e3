"""Table of the models that a vendor can run, from the outcomes of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .outcome import Outcome

ModelsOf = Mapping[str, Sequence[str]]
"""Models that make a call, by the name of its case."""
Table = dict[str, dict[str, dict[str, Any]]]
BAD = {"failed": "wrong", "known failure": "wrong", "unsupported": "missing"}
"""Classification of an operator by the status of its cases."""


def model_table(outcomes: Iterable[Outcome], models_of: ModelsOf) -> Table:
    """Return passed cases, wrong operators and missing operators by model and dtype."""
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
    """Render the tables of reports side by side; "" if no case belongs to a model."""
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
        "<h2>Models</h2><p>Results of all calls of a model at its published shapes, by dtype of "
        "the call, with the operators that are missing or wrong.</p>"
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
