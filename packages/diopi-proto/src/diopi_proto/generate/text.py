"""C comments and line wrapping, formatted as clang-format does."""

from __future__ import annotations

import textwrap

WIDTH = 100


def comment(paragraphs: list[str], indent: str = "") -> str:
    """A documentation comment: one wrapped paragraph per entry."""
    lines: list[str] = []
    for paragraph in paragraphs:
        hang = "    " if paragraph.startswith("@") else ""
        lines += textwrap.wrap(
            paragraph,
            WIDTH - len(indent) - 4,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */"
    head, *rest = lines
    body = "\n".join(f"{indent} *  {line}".rstrip() for line in rest)
    if len(body.rsplit("\n", 1)[-1]) + 3 > WIDTH:
        return f"{indent}/** {head}\n{body}\n{indent} */"
    return f"{indent}/** {head}\n{body} */"


def remark(text: str) -> str:
    """An ordinary comment, wrapped."""
    return f"/* {wrapped(text, WIDTH - 6)} */"


def wrapped(text: str, width: int = WIDTH - 3) -> str:
    """The lines of an ordinary comment without its ends."""
    return "\n * ".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def prototype(prefix: str, params: list[str], suffix: str = ";") -> str:
    """A C prototype, wrapped with the parameters aligned after the parenthesis."""
    line = f"{prefix}({', '.join(params) or 'void'}){suffix}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(prefix) + 1)
    lines = [f"{prefix}("]
    for index, param in enumerate(params):
        piece = param + ("," if index + 1 < len(params) else f"){suffix}")
        current = lines[-1]
        joined = current + piece if current.endswith("(") else f"{current} {piece}"
        if len(joined) <= WIDTH or current.strip() == "" or current.endswith("("):
            lines[-1] = joined
        else:
            lines.append(indent + piece)
    return "\n".join(lines)
