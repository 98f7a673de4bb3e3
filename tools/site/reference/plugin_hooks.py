"""The page of hook specifications, from their docstrings."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

from tools.site.reference.docstrings import functions, markdown
from tools.site.table import ROOT

ADDRESS = "reference/hooks.md"
_SPECIFICATIONS = ROOT / "packages" / "core" / "src" / "dl_core" / "hookspecs.py"


class PluginHooks:
    """One page with all hooks."""

    def nav(self) -> list[Any]:
        """Return the page."""
        return [ADDRESS]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the page."""
        module = ast.get_docstring(ast.parse(_SPECIFICATIONS.read_text("utf-8"))) or ""
        summary, _, rest = module.partition("\n\n")
        blocks = ["# Hook specifications", markdown(summary), markdown(rest)]
        for function in functions(_SPECIFICATIONS):
            result = ast.unparse(function.returns) if function.returns else "None"
            arguments = ast.unparse(function.args)
            blocks += [
                f"## {function.name}",
                f"```python\ndef {function.name}({arguments}) -> {result}: ...\n```",
                markdown(inspect.cleandoc(ast.get_docstring(function) or "")),
            ]
        yield ADDRESS, "\n\n".join(blocks) + "\n"
