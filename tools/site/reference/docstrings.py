"""Docstrings of modules, functions and attributes, read without importing their module."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

_ROLE = re.compile(r":(?:\w+:)?\w+:`[~!.]?([^`]+)`")
_FIELD = re.compile(r"\n:(param|ivar|raises|returns?|yields?)([^:\n]*):")
_TITLES = {"raises": "raises", "return": "returns", "returns": "returns", "yields": "yields"}
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


def described(text: str) -> str:
    """Return a docstring as Markdown: its fields as a list, its examples as code."""
    blocks: list[str] = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            code = inspect.cleandoc(paragraph).replace("  # doctest: +SKIP", "")
            blocks.append(f"```pycon\n{code}\n```")
            continue
        first, *fields = _FIELD.split(f"\n{paragraph}")
        blocks.append(markdown(first.strip("\n")))
        lines = []
        for kind, name, content in zip(*(fields[i::3] for i in range(3)), strict=True):
            title = _TITLES.get(kind, "")
            label = f"`{name.strip()}`" if name.strip() else ""
            head = f"*{title}* {label}".strip() if title else label
            lines.append(f"- {head}: {markdown(' '.join(content.split()))}")
        blocks.append("\n".join(lines))
    return "\n\n".join(
        block.replace("<", "&lt;") if "```" not in block else block for block in blocks if block
    )


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    return _LITERAL.sub(r"`\1`", _ROLE.sub(r"`\1`", text))
