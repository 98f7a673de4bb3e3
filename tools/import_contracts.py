"""``python -m tools.import_contracts``: check the imports inside each Python package.

Modules of a package may not import each other in a cycle; imports inside functions and imports for
type checkers count too, because they also need the other module. ``import_layers.yaml`` lists the
packages whose modules are in layers.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
CONTRACTS = Path(__file__).with_name("import_layers.yaml")
SOURCES = ("packages/*/src/*/__init__.py", "packages/compat/*/src/*/__init__.py")

Imports = Mapping[str, set[str]]
"""The modules of a package, and the modules of the same package that each imports."""


def imports_of(package: Path) -> Imports:
    """Return the imports between the modules of a package, by names relative to the package.

    The imports of a compiled module are those of its stub file.
    """
    paths = sorted([*package.rglob("*.pyi"), *package.rglob("*.py")])
    files = {_name(path, package): path for path in paths}
    return {name: set(_imported(name, path, package.name, files)) for name, path in files.items()}


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, package: str, files: Mapping[str, Path]) -> Iterator[str]:
    folder = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    folder = [part for part in folder if part]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets: list[str] = []
        if isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            if not node.level:
                if module.partition(".")[0] != package:
                    continue
                module = module.partition(".")[2]
            for alias in node.names:
                inner = f"{module}.{alias.name}".lstrip(".")
                targets.append(inner if inner in files else module)
        elif isinstance(node, ast.Import):
            names = [alias.name.partition(".") for alias in node.names]
            targets = [inner for top, _, inner in names if top == package]
        yield from (target for target in targets if target in files and target != name)


def cycles(imports: Imports) -> list[list[str]]:
    """Return the groups of modules that import each other in cycles.

    They are the strongly connected components with more than one module (Tarjan, "Depth-first
    search and linear graph algorithms", SIAM J. Comput. 1 (2), 1972).
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(imports[module]):
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            component = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(component) > 1:
                found.append(sorted(component))

    for module in sorted(imports):
        if module not in index:
            visit(module)
    return found


def upward(imports: Imports, layers: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the imports of a layer by one below it, and modules that are in no layer.

    :param layers: modules and packages, from the top layer to the bottom.
    """
    levels = {name: level for level, names in enumerate(layers) for name in names}

    def level_of(module: str) -> int | None:
        while module and module not in levels:
            module = module.rpartition(".")[0]
        return levels.get(module)

    for module, others in sorted(imports.items()):
        if not module:
            continue
        own = level_of(module)
        if own is None:
            yield f"{module} is in no layer"
            continue
        for other in sorted(others):
            level = level_of(other)
            if level is not None and level < own:
                yield f"{module} may not import {other}, which is in a layer above"


def problems(root: Path, contracts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the violations of import contracts in the packages of a repository."""
    for path in sorted(path for pattern in SOURCES for path in root.glob(pattern)):
        package = path.parent
        contract = contracts.get(package.name, {})
        imports = imports_of(package)
        for component in cycles(imports):
            yield f"{package.name}: import cycle of {', '.join(component)}"
        for problem in upward(imports, contract["layers"]) if "layers" in contract else ():
            yield f"{package.name}: {problem}"


def main() -> int:
    contracts = yaml.safe_load(CONTRACTS.read_text(encoding="utf-8"))
    found = list(problems(ROOT, contracts))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
