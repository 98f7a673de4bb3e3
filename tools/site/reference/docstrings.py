"""Docstrings of modules, functions and attributes, read without importing their module."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

_ROLE = re.compile(r":(?:\w+:)?\w+:`[~!.]?([^`]+)`")
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node


def attributes(path: Path, of: str) -> dict[str, str]:
    """Return the documentation strings below the attributes of a class."""
    tree = ast.parse(path.read_text("utf-8"))
    (found,) = (x for x in tree.body if isinstance(x, ast.ClassDef) and x.name == of)
    docs = {}
    for node, following in zip(found.body, found.body[1:], strict=False):
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            docs[node.target.id] = inspect.cleandoc(str(following.value.value))
    return docs


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    return _LITERAL.sub(r"`\1`", _ROLE.sub(r"`\1`", text))
