"""The table of the library's functions that operators call, by which ``dl doctor`` finds those that
an installed library lacks."""

from __future__ import annotations

import json

from .checked import Checked


def table(checked: Checked) -> str:
    """Return ``functions.json``: files, and symbols and operators by function."""
    library = checked.library
    operators: dict[str, dict[str, None]] = {}
    for entry in checked.entries:
        for case in entry.cases:
            calls = [*case.calls, *case.workspaces.values()]
            called = [call.function.name for call in calls if call.function is not None]
            for name in (*called, *case.needs):
                operators.setdefault(name, {})[entry.operator.name] = None
    for name in list(operators):
        sizing = library.functions[name].workspace
        if sizing:
            operators.setdefault(sizing, {}).update(operators[name])
    functions = {
        name: {"symbols": _symbols(library.shape, name), "operators": sorted(operators[name])}
        for name in sorted(operators)
    }
    return json.dumps({"open": library.opened, "functions": functions}, indent=1) + "\n"


def _symbols(shape: str, name: str) -> list[str]:
    return [f"{name}GetWorkspaceSize", name] if shape == "two_phase" else [name]
