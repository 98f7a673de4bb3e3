"""Table of the models that a vendor can run, from the outcomes of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


def as_lines(table: Table, models: Iterable[str]) -> list[str]:
    """Return a line for each model: the wrong and the missing operators with their dtypes."""
    lines = []
    for model in models:
        problems = []
        for kind in ("wrong", "missing"):
            dtypes: dict[str, list[str]] = {}
            for dtype, cell in table.get(model, {}).items():
                for operator in cell[kind]:
                    dtypes.setdefault(operator, []).append(dtype)
            if dtypes:
                named = (f"{name} ({', '.join(of)})" for name, of in sorted(dtypes.items()))
                problems.append(f"{kind} {', '.join(named)}")
        lines.append(f"model {model}: {'; '.join(problems) or 'no operator is missing or wrong'}")
    return lines


def as_rows(
    reports: Sequence[Mapping[str, Any]],
) -> list[tuple[str, list[list[tuple[str, str, str]]]]]:
    """Return each model with its cells, one of each report: status, dtype and text of each line."""
    tables: list[Table] = [report.get("models", {}) for report in reports]
    models = dict.fromkeys(model for table in tables for model in table)
    return [(model, [_lines(table.get(model, {})) for table in tables]) for model in models]


def _lines(dtypes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    lines = []
    for dtype, cell in dtypes.items():
        problems = [
            f"{kind} {', '.join(cell[kind])}" for kind in ("wrong", "missing") if cell[kind]
        ]
        kind = "failed" if cell["wrong"] else "unsupported" if cell["missing"] else "passed"
        lines.append((kind, dtype, "; ".join(problems) or f"all {cell['passed']} calls"))
    return lines
