"""Native code is called by cffi: no shipped module imports ctypes, except for listed reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALLOWED = {
    # A call into the interpreter itself needs its lock, which cffi releases.
    "packages/autotune/src/dl_autotune/strategies/inverted.py",
}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_no_shipped_module_imports_ctypes() -> None:
    found = {
        str(path.relative_to(ROOT))
        for source in ("packages/*/src", "packages/compat/*/src")
        for path in ROOT.glob(f"{source}/**/*.py")
        if any(name.partition(".")[0] == "ctypes" for name in imported(path))
    }
    assert found == ALLOWED
