"""Readable texts of a source file: comments, strings, documents, function names."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["text", "opening", "help", "name"]
_C_SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".inc", ".cu", ".hip"}
_C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_MARKS = re.compile(r"^\s*(?://+|/\*+|\*+/?|#+!?)\s?|\s*\*/\s*$")
SUFFIXES = {".py", ".pyi", ".md", ".yaml", ".toml", ".cmake", *_C_SUFFIXES}


@dataclass(frozen=True)
class Text:
    """One line of text.

    :ivar line: line number in the file, from 1.
    :ivar kind: an opening is the first line of a docstring or of a comment.
    :ivar ends: it is the last line of a comment.
    """

    line: int
    text: str
    kind: Kind
    ends: bool = False


def texts(path: Path) -> Iterator[Text]:
    """Yield the texts of a file, by its suffix."""
    source = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in (".py", ".pyi"):
        yield from _python(source)
    elif path.suffix in _C_SUFFIXES:
        yield from _c(source)
    elif path.suffix == ".md":
        yield from _markdown(source)
    else:
        for number, line in enumerate(source.splitlines(), 1):
            yield Text(number, line.partition("#")[2] or line, "text")


def _python(source: str) -> Iterator[Text]:
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Text(node.lineno, node.name, "name")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add(node.lineno)
        if isinstance(node, ast.keyword) and node.arg == "help":
            value = node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield Text(value.lineno, value.value, "help")
    lines = source.splitlines()
    previous = -1  # line of the comment before
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            # A comment after code, or one that continues another, is not an opening.
            alone = not token.line[: token.start[1]].strip()
            opens = alone and previous != line - 1
            ends = not _continues(lines, line, "#")
            yield Text(line, _MARKS.sub("", token.string), "opening" if opens else "text", ends)
            previous = line
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            body = re.sub(r"^\w*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$", "", token.string)
            for offset, part in enumerate(body.splitlines() or [""]):
                opens = offset == 0 and line in docstrings
                yield Text(line + offset, part.strip(), "opening" if opens else "text")


def _continues(lines: list[str], line: int, mark: str) -> bool:
    """Return True if the line after line number ``line`` continues its comment."""
    return line < len(lines) and lines[line].lstrip().startswith(mark)


def _c(source: str) -> Iterator[Text]:
    lines = source.splitlines()
    previous = -1  # line of the comment before
    for found in _C_TOKEN.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        if found[0].startswith('"'):
            yield Text(line, found[0][1:-1], "text")
            continue
        before = source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        opens = not before.strip() and previous != line - 1
        last = found[0].count("\n")
        for offset, part in enumerate(found[0].split("\n")):
            text = _MARKS.sub("", _MARKS.sub("", part)).strip()
            ends = offset == last and not _continues(lines, line + last, "//")
            yield Text(line + offset, text, "opening" if opens and offset == 0 else "text", ends)
        previous = line + last


def _markdown(source: str) -> Iterator[Text]:
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            # Quoted code is a name or output.
            yield Text(number, re.sub(r"`[^`]*`", "``", line), "text")
