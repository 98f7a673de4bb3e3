"""Pages of the public C headers, from their comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.site.table import ROOT

FOLDER = "reference/c"
_HEADERS = {
    "packages/diopi-proto/include/diopi/diopirt.h": "diopi/diopirt.h",
    **{
        f"packages/diopi-proto/include/dl/{path.name}": f"dl/{path.name}"
        for path in sorted((ROOT / "packages" / "diopi-proto" / "include" / "dl").glob("*.h"))
    },
    "packages/graph/include/dl/contract_graph.h": "dl/contract_graph.h",
}
_COMMENT = re.compile(r"\A/\*(.*?)\*/[ \t]*\n?", re.DOTALL)
_PLUMBING = re.compile(r"#(if|ifdef|ifndef|include|endif|else|define \w+_H_$)|DL_EXTERN_C_")
_NAMES = (
    re.compile(r"^\} (\w+);$", re.MULTILINE),
    re.compile(r"^#define (\w+)"),
    re.compile(r"^typedef [^;{]*?\(\*(\w+)\)"),
    re.compile(r"^(?:typedef )?(?:struct|enum|union) (\w+)"),
    re.compile(r"^[\w* ]+?\b(\w+)\(", re.MULTILINE),
    re.compile(r"^typedef .*?(\w+);$", re.MULTILINE),
)


class CHeaders:
    """One page for each header, and a list of all."""

    def nav(self) -> list[Any]:
        """Return the section with the pages."""
        pages = [{name: _address(name)} for name in _HEADERS.values()]
        return [{"C headers": [f"{FOLDER}/index.md", *pages]}]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the list and the pages."""
        rows = []
        for path, name in _HEADERS.items():
            text = (ROOT / path).read_text("utf-8")
            opening, _ = _split_comment(text)
            summary = " ".join(opening.split("\n\n")[0].split())
            rows.append(f"| [`{name}`]({name}.md) | {summary.replace('|', chr(92) + '|')} |")
            yield _address(name), header_page(name, Path(path).parts[1], text)
        head = "# C headers\n\nThe interfaces of libraries of vendors and of hosts.\n\n"
        table = "\n".join(["| header | subject |", "| --- | --- |", *rows])
        yield f"{FOLDER}/index.md", f"{head}{table}\n"


def _address(name: str) -> str:
    return f"{FOLDER}/{name}.md"


def header_page(name: str, package: str, text: str) -> str:
    """Return the page of a header: its declarations, each below its comment."""
    opening, rest = _split_comment(text)
    blocks = [f"# {name}", f"Part of `dl-{package}`.", opening]
    # An empty line within a declaration ends nothing: what follows it is indented.
    for block in re.split(r"\n[ \t]*\n(?=\S)", rest):
        comment, code = _split_comment(block.strip("\n"))
        kept = "\n".join(x for x in code.splitlines() if not _PLUMBING.match(x)).strip("\n")
        if title := name_of(kept):
            blocks.append(f"## {title}")
        blocks.append(comment)
        if kept:
            blocks.append(f"```c\n{kept}\n```")
    return "\n\n".join(filter(None, blocks)) + "\n"


def name_of(code: str) -> str | None:
    """Return the name of the first declaration."""
    for pattern in _NAMES:
        if match := pattern.search(code):
            return match[1]
    return None


def _split_comment(text: str) -> tuple[str, str]:
    """Return the comment at the beginning as Markdown, and the rest."""
    match = _COMMENT.match(text)
    if match is None:
        return "", text
    lines = [line.strip().removeprefix("*").removeprefix(" ") for line in match[1].splitlines()]
    parts = re.split(r"(`[^`]*`)", "\n".join(lines).strip())
    prose = [x if x.startswith("`") else x.replace("<", "&lt;").replace("_", "\\_") for x in parts]
    return "".join(prose), text[match.end() :]
