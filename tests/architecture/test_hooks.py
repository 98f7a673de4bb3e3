"""Hooks that this release does not call say so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DECLARED = ROOT / "packages" / "core" / "src" / "dl_core" / "hookspecs.py"
CALLED = re.compile(r"\.(?:call|contributions)\(\s*\"(dl_\w+)\"")
NOTE = "This release does not call the hook yet."


def test_hooks_without_a_user_say_so() -> None:
    tree = ast.parse(DECLARED.read_text(encoding="utf-8"))
    said = {
        each.name: NOTE in (ast.get_docstring(each) or "")
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("dl_")
    }
    sources = (ROOT / "packages").glob("**/src/**/*.py")
    used = {name for path in sources for name in CALLED.findall(path.read_text(encoding="utf-8"))}
    assert {"dl_vendor", "dl_cli_commands", "dl_op_tools"} <= used
    assert used <= set(said)
    assert {name for name, unused in said.items() if unused} == set(said) - used
