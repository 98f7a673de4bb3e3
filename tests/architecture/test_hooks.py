"""Each hook has a caller."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DECLARED = ROOT / "packages" / "core" / "src" / "dl_core" / "hookspecs.py"
CALLED = re.compile(r"\.(?:call|contributions)\(\s*\"(dl_\w+)\"")


def test_each_hook_has_a_caller() -> None:
    tree = ast.parse(DECLARED.read_text(encoding="utf-8"))
    declared = {
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("dl_")
    }
    sources = (ROOT / "packages").glob("**/src/**/*.py")
    used = {name for path in sources for name in CALLED.findall(path.read_text(encoding="utf-8"))}
    assert declared == used
