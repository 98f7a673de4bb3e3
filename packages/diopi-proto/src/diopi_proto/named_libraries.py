"""Libraries that a vendor's library opens by name, such as its driver, and which are missing.

A vendor should report why it has no device. If it does not, the names of libraries in its file are
the best hint.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path

from .companions import installed_paths
from .elf import ElfError, read_elf
from .foreign_file import open_regular

_NAME = re.compile(rb"\0((?:/[\w.+-]+)*/?lib[\w+-]+\.so(?:\.\d+)*)(?=\0)")
"""A soname or an absolute path that is a whole string of the file."""
_MOST = 64
"""Maximum number of names that are looked up."""


def missing_libraries(library: Path, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of libraries in a file that the dynamic loader would not find.

    Libraries that the file is linked with are left out, because it could not be loaded without
    them, and so are files next to it.
    """
    try:
        linked = read_elf(library).needed
    except (ElfError, OSError):
        return []
    others = [name for name in _names(library) if name not in (*linked, library.name)]
    return [
        name
        for name in others
        if not (library.parent / name).exists() and not _is_installed(name, environ)
    ]


def _names(library: Path) -> list[str]:
    try:
        with open_regular(library) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            found = [match[1].decode("ascii", "replace") for match in _NAME.finditer(content)]
    except (OSError, ValueError):
        return []
    return list(dict.fromkeys(found))[:_MOST]


def _is_installed(name: str, environ: Mapping[str, str]) -> bool:
    if name.startswith("/"):
        return Path(name).exists()
    return next(installed_paths(name, environ), None) is not None
