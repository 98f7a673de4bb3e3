"""Names of operators that processes of one run wrote down, a file for each. Imports no torch."""

from __future__ import annotations

from pathlib import Path

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_text

COLLECTOR = "names"
"""What ``DL_TOOLS`` calls the tool that writes them."""
FOLDER_VARIABLE = "DL_TOOLS_NAMES"
MODULES_SUFFIX = ".modules"


def imported(folder: Path) -> list[str]:
    """The modules that the processes of a run had imported, in order, each once."""
    return _lines(folder, MODULES_SUFFIX)


def collected(folder: Path) -> list[str]:
    """The names of all processes, in order, each once."""
    return _lines(folder, ".txt")


def _lines(folder: Path, suffix: str) -> list[str]:
    names: dict[str, None] = {}
    for path in sorted(folder.glob(f"*{suffix}")):
        names.update(dict.fromkeys(read_regular_text(path, DOCUMENT_BYTES).splitlines()))
    return list(names)
