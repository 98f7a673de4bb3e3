"""A single module reads the environment, so that the package's inputs are explicit."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dl_optools
from dl_optools.environment import environment

_ROOT = Path(dl_optools.__file__).parent
_READING = {"environ", "environb", "getenv", "getenvb"}


def names_of_os(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.attr} if node.value.id == "os" else set()
    return found


def test_one_module_reads_the_environment() -> None:
    reading = [
        str(path.relative_to(_ROOT))
        for path in _ROOT.rglob("*.py")
        if names_of_os(ast.parse(path.read_text(encoding="utf-8"))) & _READING
    ]
    assert reading == ["environment.py"]


def test_it_is_as_it_is_when_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = environment()
    monkeypatch.setenv("DL_TOOLS_OUTPUT", "elsewhere")
    assert seen["DL_TOOLS_OUTPUT"] == "elsewhere"
