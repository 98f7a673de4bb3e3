"""The page of environment variables, from core's settings and the documents of packages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dl_core import config
from tools.site.reference.commands import cell
from tools.site.reference.docstrings import attributes, markdown
from tools.site.table import ROOT

ADDRESS = "reference/environment-variables.md"
_CONFIG = ROOT / "packages" / "core" / "src" / "dl_core" / "config.py"
_TABLE = re.compile(r"^\| variable \|.*\n\| ---.*\n((?:\|.*\n)+)", re.MULTILINE)
_HEAD = """# Environment variables

An empty value counts as unset. An invalid value gives a warning, and the default is used.
`dl doctor` lists the variables that are set, and those that look like a setting but are not read.

## dl-core

Read at `import torch`.

"""


class Variables:
    """One page with all variables."""

    def nav(self) -> list[Any]:
        """Return the page."""
        return [ADDRESS]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the page."""
        docs = attributes(_CONFIG, "Config")
        defaults = config.Config()._asdict()
        lines = ["| variable | meaning | values | default | also read as |", f"|{' --- |' * 5}"]
        for variable in config.VARIABLES:
            own, *others = variable.names
            lines.append(
                f"| `{own}` | {meaning(own, docs[variable.field])} | {cell(variable.allowed)} "
                f"| {_default(defaults[variable.field], variable.allowed)} "
                f"| {', '.join(f'`{name}`' for name in others)} |"
            )
        yield ADDRESS, _HEAD + "\n".join(lines) + "\n\n" + "\n".join(_of_packages())


def meaning(name: str, doc: str) -> str:
    """Return the meaning of a variable, from the documentation of its setting."""
    text = markdown(doc).removeprefix(f"`{name}`: ").replace("None: ", "Unset: ")
    return cell(text[:1].upper() + text[1:])


def _default(value: Any, allowed: str) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return f"`{('off', 'on')[value] if 'on' in allowed.split(', ') else int(value)}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _of_packages() -> Iterator[str]:
    for title, rows in tables().items():
        yield f"## {title}\n\n" + "\n\n".join(rows) + "\n"


def tables() -> Mapping[str, list[str]]:
    """Return the tables of variables in the documents of other packages, by package."""
    found: dict[str, list[str]] = {}
    documents = [*ROOT.glob("packages/*/README.md"), *ROOT.glob("packages/*/docs/*.md")]
    for path in sorted(documents):
        folder = path.relative_to(ROOT).parts[1]
        if folder == "core":
            continue
        for match in _TABLE.finditer(path.read_text("utf-8")):
            # Links are relative to the document, whose page has the explanation.
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[0])
            found.setdefault(f"dl-{folder}", []).append(text)
    return found
