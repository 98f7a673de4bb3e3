"""The files that are generated from the data of a library."""

from __future__ import annotations

from pathlib import Path

from . import emit_fake
from .check import Checked


def outputs(checked: Checked) -> dict[Path, str]:
    """Return the contents of the generated files by path."""
    library = checked.library
    found: dict[Path, str] = {}

    def folder(key: str) -> Path | None:
        given = library.outputs.get(key)
        return None if given is None else (library.folder / given).resolve()

    fake = folder("fake")
    if fake is not None:
        found[fake / "functions.gen.h"] = emit_fake.header(library)
        found[fake / "functions.gen.cpp"] = emit_fake.source(library)
    return found
