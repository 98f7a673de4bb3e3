"""Public names of a package's modules, found in their sources without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Node = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Definition:
    """The definition of a public name.

    :ivar comment: the documentation string below an assignment.
    """

    name: str
    node: Node
    comment: str = ""


@dataclass(frozen=True)
class Source:
    """A module.

    :ivar folder: folder with the packages.
    """

    folder: Path
    module: str

    @property
    def path(self) -> Path:
        """Return the file of the module."""
        path = self.folder.joinpath(*self.module.split("."))
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")

    @property
    def body(self) -> list[ast.stmt]:
        """Return the statements of the module, including those for type checkers."""
        found: list[ast.stmt] = []
        for node in _parse(self.path).body:
            found += node.body if isinstance(node, ast.If) else [node]
        return found

    def documentation(self) -> str:
        """Return the documentation string of the module."""
        return ast.get_docstring(_parse(self.path)) or ""

    def relative(self, name: str | None, level: int) -> Source | None:
        """Return the module that an import names, or None if it belongs to another folder."""
        parts = self.module.split(".")
        if level:
            is_package = self.path.name == "__init__.py"
            parts = parts[: len(parts) - level + is_package]
        else:
            parts = []
        found = Source(self.folder, ".".join([*parts, *filter(None, [name])]))
        return found if found.path.is_file() else None

    def tables(self) -> Mapping[str, str]:
        """Return the tables of lazily imported names: the module of each name."""
        found = {}
        for node in self.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                for key, value in zip(node.value.keys, node.value.values, strict=True):
                    if key is not None and _is_text(key) and _is_text(value):
                        found[ast.literal_eval(key)] = ast.literal_eval(value)
        return found

    def exported(self) -> list[str]:
        """Return the names of ``__all__``, or those that the module itself defines."""
        for node in self.body:
            if isinstance(node, ast.Assign) and _names(node) == ["__all__"]:
                assert isinstance(node.value, ast.List | ast.Tuple)
                names = [ast.literal_eval(x) for x in node.value.elts if _is_text(x)]
                starred = any(isinstance(x, ast.Starred) for x in node.value.elts)
                return [*names, *(self.tables() if starred else ())]
        functions = (x for x in self.body if isinstance(x, ast.FunctionDef | ast.ClassDef))
        return [x.name for x in functions if not x.name.startswith("_")]


def public_names(source: Source) -> Iterator[Definition]:
    """Yield the definitions of the public names of a module, in its order.

    Modules, versions and names from other packages are left out.
    """
    for name in source.exported():
        found = find(source, name)
        if found is not None and not name.startswith("__"):
            yield found


def find(source: Source, name: str) -> Definition | None:
    """Return the definition of a name, also if the module imports it from its own folder."""
    following = [*source.body[1:], ast.Pass()]
    for node, after in zip(source.body, following, strict=True):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return Definition(name, node)
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _names(node):
            return Definition(name, node, _documentation(after))
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    module = source.relative(node.module, node.level)
                    return find(module, alias.name) if module else None
    home = source.tables().get(name)
    if home is None:
        return None
    module = source.relative(home.lstrip("."), 1)
    return find(module, name) if module else None


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [x.id for x in targets if isinstance(x, ast.Name)]


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _documentation(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and _is_text(node.value):
        return str(ast.literal_eval(node.value))
    return ""
