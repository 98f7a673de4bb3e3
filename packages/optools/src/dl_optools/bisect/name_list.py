"""Operator names recorded by the processes of one run, one file per process. Imports no torch."""

from __future__ import annotations

from pathlib import Path

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_text

COLLECTOR = "names"
"""Name in ``DL_TOOLS`` of the tool that records them."""
FOLDER_VARIABLE = "DL_TOOLS_NAMES"
MODULES_SUFFIX = ".modules"


def read_modules(folder: Path) -> list[str]:
    """Return the modules that the processes of a run imported, in order, without duplicates."""
    return _lines(folder, MODULES_SUFFIX)


def read_operators(folder: Path) -> list[str]:
    """Return the operator names of all processes, in order, without duplicates."""
    return _lines(folder, ".txt")


def _lines(folder: Path, suffix: str) -> list[str]:
    names: dict[str, None] = {}
    for path in sorted(folder.glob(f"*{suffix}")):
        names.update(dict.fromkeys(read_regular_text(path, DOCUMENT_BYTES).splitlines()))
    return list(names)
