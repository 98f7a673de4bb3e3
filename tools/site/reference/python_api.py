"""Pages of the public Python names of packages, from their docstrings.

The sources are read, not imported, because building the site does not need torch.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

from tools.site.reference.docstrings import described
from tools.site.reference.names import Definition, Source, public_names
from tools.site.table import ROOT

FOLDER = "reference/python"
_PACKAGES = ROOT / "packages"
_LONGEST = 88
"""Maximum length of a line of code."""
PAGES = {
    # Title: the modules with public names.
    "torch.dl": ("core/src:dl_core.torch_backend.module",),
    "dl_core": ("core/src:dl_core",),
    "diopi_proto": (
        "diopi-proto/src:diopi_proto",
        "diopi-proto/src:diopi_proto.descriptor",
        "diopi-proto/src:diopi_proto.tolerance",
    ),
    "dl_graph": ("graph/src:dl_graph",),
    "dl_dicp": ("dicp/src:dl_dicp", "dicp/src:dl_dicp.patterns"),
    "dl_optools": ("optools/src:dl_optools",),
    "dl_autotune": (
        "autotune/src:dl_autotune",
        "autotune/src:dl_autotune.strategies",
    ),
    "dl_conformance": (
        "conformance/src:dl_conformance.vocabulary",
        "conformance/src:dl_conformance.reference",
    ),
}


class PythonApi:
    """One page for each package, and a list of all."""

    def nav(self) -> list[Any]:
        """Return the section with the pages."""
        pages = [{title: f"{FOLDER}/{title}.md"} for title in PAGES]
        return [{"Python": [f"{FOLDER}/index.md", *pages]}]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the list and the pages."""
        rows = []
        for title, modules in PAGES.items():
            sources = [_source(module) for module in modules]
            yield f"{FOLDER}/{title}.md", api_page(title, sources)
            text = inspect.cleandoc(sources[0].documentation()).partition("\n\n")[0]
            rows.append(f"| [`{title}`]({title}.md) | {described(text).replace(chr(10), ' ')} |")
        head = "# Python\n\nPublic names of the packages, with their documentation strings.\n\n"
        table = "\n".join(["| module | contents |", "| --- | --- |", *rows])
        yield f"{FOLDER}/index.md", f"{head}{table}\n"


def _source(name: str) -> Source:
    folder, _, module = name.partition(":")
    return Source(_PACKAGES / folder, module)


def api_page(title: str, sources: list[Source]) -> str:
    """Return the page of modules: their names, each with its signature and documentation."""
    blocks = [f"# {title}"]
    for number, source in enumerate(sources):
        if number:
            blocks.append(f"## Module {source.module}")
        blocks.append(described(source.documentation()))
        for definition in public_names(source):
            blocks += _entry(definition, "###" if number else "##")
    return "\n\n".join(filter(None, blocks)) + "\n"


def _entry(definition: Definition, level: str) -> Iterator[str]:
    name, node = definition.name, definition.node
    yield f"{level} {name}"
    if isinstance(node, ast.FunctionDef):
        yield f"```python\n{signature(node)}\n```"
        yield described(ast.get_docstring(node) or "")
    elif isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        yield f"```python\nclass {name}({bases})\n```" if bases else f"```python\nclass {name}\n```"
        yield described(ast.get_docstring(node) or "")
        yield from _members(node)
    else:
        text = ast.unparse(node)
        # A long value, such as generated text, explains nothing.
        yield f"```python\n{text if len(text) <= _LONGEST else f'{name} = ...'}\n```"
        yield described(definition.comment)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the documented public methods, and the arguments of a new object."""
    for part in node.body:
        if not isinstance(part, ast.FunctionDef):
            continue
        text = ast.get_docstring(part) or ""
        if part.name == "__init__" and len(part.args.args) > 1:
            yield f"```python\n{signature(part)}\n```"
            yield described(text)
        elif not part.name.startswith("_") and text:
            kinds = {x.id for x in part.decorator_list if isinstance(x, ast.Name)}
            yield f"**`{part.name}`**" + (" (property)" if "property" in kinds else "")
            if "property" not in kinds:
                yield f"```python\n{signature(part)}\n```"
            yield described(text)


def signature(node: ast.FunctionDef) -> str:
    """Return the first line of a function, with its parameters in lines if they are long."""
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"def {node.name}({ast.unparse(node.args)}){result}"
    if len(line) <= _LONGEST:
        return line
    arguments = node.args
    parts = [
        *_with_defaults(arguments.posonlyargs + arguments.args, arguments.defaults),
        *([f"*{ast.unparse(arguments.vararg)}"] if arguments.vararg else []),
        *(["*"] if arguments.kwonlyargs and not arguments.vararg else []),
        *_with_defaults(arguments.kwonlyargs, arguments.kw_defaults),
        *([f"**{ast.unparse(arguments.kwarg)}"] if arguments.kwarg else []),
    ]
    return f"def {node.name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def _with_defaults(names: list[ast.arg], defaults: list[Any]) -> Iterator[str]:
    padded = [None] * (len(names) - len(defaults)) + list(defaults)
    for name, default in zip(names, padded, strict=True):
        sign = " = " if name.annotation else "="
        yield ast.unparse(name) + (f"{sign}{ast.unparse(default)}" if default else "")
