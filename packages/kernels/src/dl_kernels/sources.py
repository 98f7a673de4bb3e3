"""List of operators, parsed from the kernels themselves, so that it is not repeated elsewhere.

A family is a file ``dl_kernels/ops/<family>.inc`` with the name of the schema's family. An operator
is defined by a line that begins with a function, ``diopiError_t diopiSum(...) {``, or with a macro
that defines several, ``DL_UNARY_AND_INP(diopiSin, diopiSinInp, ...)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ._paths import include_dir

__all__ = ["KernelSourceError", "families", "family_files", "operators_in", "parts"]

_NAME = r"(?:diopi|dlop)[A-Z]\w*"
_FUNCTION = re.compile(rf"^diopiError_t\s+({_NAME})\s*\(", re.MULTILINE)
_MACRO = re.compile(rf"^DL_[A-Z0-9_]+\(\s*({_NAME}(?:\s*,\s*{_NAME})*)\s*[,)]", re.MULTILINE)
_INCLUDED = re.compile(r'^#include "(dl_kernels/[^"]+)"', re.MULTILINE)
_PASTED = re.compile(r"\b((?:diopi|dlop)\w*)##|##\w*(?:Inp|Backward|Scalar)\b")


class KernelSourceError(ValueError):
    """A file of kernels cannot be parsed; the message names the file and the line."""


def families() -> dict[str, tuple[str, ...]]:
    """Return the operators of each family; families and operators are sorted by name.

    :raises KernelSourceError: an operator is defined twice, a family is empty, or the name of an
        operator is pasted together by a macro, where a search does not find it.
    """
    found: dict[str, tuple[str, ...]] = {}
    defined_in: dict[str, str] = {}
    for path in family_files():
        defined = operators_in(path.read_text(encoding="utf-8"), path.name)
        for name, line in defined.items():
            here = f"{path.name}:{line}"
            if name in defined_in:
                raise KernelSourceError(f"{name} is defined in {defined_in[name]} and in {here}")
            defined_in[name] = here
        found[path.stem] = tuple(sorted(defined))
    return found


def family_files() -> list[Path]:
    """Return the files of operators, one for each family."""
    return sorted((include_dir() / "dl_kernels" / "ops").glob("*.inc"))


def parts(chosen: Iterable[str]) -> list[str]:
    """Return the parts that some families need on a GPU, sorted by name.

    A part is a file ``dl_kernels/gpu/parts/<name>.inc``: kernels shared by several families, which
    are compiled once. Files that include ``dl_kernels/gpu/<name>.h`` need it.
    """
    found: set[str] = set()
    waiting = [family_path(family) for family in chosen]
    while waiting:
        for name in included(waiting.pop()):
            part = name.removeprefix("dl_kernels/gpu/").removesuffix(".h")
            if part not in found and text_of(part_path(part)) is not None:
                found.add(part)
                # A part may need other parts.
                waiting.append(part_path(part))
    return sorted(found)


def family_path(family: str) -> str:
    """Return a family's file, as an ``#include`` names it."""
    return f"dl_kernels/ops/{family}.inc"


def part_path(part: str) -> str:
    """Return a part's file, as an ``#include`` names it."""
    return f"dl_kernels/gpu/parts/{part}.inc"


def included(name: str) -> list[str]:
    """Return a header and all headers of this package that it includes, directly or not."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each not in found and (text := text_of(each)) is not None:
            found[each] = None
            waiting += _INCLUDED.findall(text)
    return list(found)


@cache
def text_of(name: str) -> str | None:
    """Return the text of a header, or None if it does not exist."""
    path = include_dir() / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


def operators_in(text: str, name: str = "<text>") -> dict[str, int]:
    """Return the operators that the text of a family defines, with their lines.

    :param name: file name for messages.
    :raises KernelSourceError: see :func:`families`.
    """
    if pasted := _PASTED.search(text):
        raise KernelSourceError(
            f"{name}:{_line(text, pasted.start())}: {pasted[0]!r} pastes the name of an operator "
            "together; pass the full name to the macro, so that it can be searched for"
        )
    found: dict[str, int] = {}

    def add(operator: str, at: int) -> None:
        line = _line(text, at)
        if operator in found:
            raise KernelSourceError(
                f"{operator} is defined twice in {name}: {found[operator]} and {line}"
            )
        found[operator] = line

    for match in _FUNCTION.finditer(text):
        if is_definition(text, match.end()):
            add(match[1], match.start(1))
    for match in _MACRO.finditer(text):
        for operator in match[1].split(","):
            add(operator.strip(), match.start(1))
    if not found:
        raise KernelSourceError(f"{name} defines no operator; one family has at least one")
    return found


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def is_definition(text: str, after_open: int) -> bool:
    """Return True if a body follows the parameters that begin at ``after_open``."""
    depth = 1
    for match in re.compile(r"[()]").finditer(text, after_open):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return text[match.end() :].lstrip().startswith("{")
    return False
