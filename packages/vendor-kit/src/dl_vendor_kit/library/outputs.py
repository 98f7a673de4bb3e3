"""The files that are generated from the data of a library."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from . import emit, emit_fake, emit_functions, emit_page, emit_signatures, emit_table
from .check import Checked


def outputs(checked: Checked) -> dict[Path, str]:
    """Return the contents of the generated files by path."""
    library = checked.library
    found: dict[Path, str] = {}

    def target(key: str) -> Path | None:
        given = library.outputs.get(key)
        return None if given is None else (library.folder / given).resolve()

    sources = target("sources")
    if sources is not None:
        found[sources / "functions.gen.h"] = emit_functions.functions_header(library)
        found[sources / "functions.gen.cpp"] = emit_functions.functions_source(library)
        if library.header:
            found[sources / "signatures.gen.cpp"] = emit_signatures.source(library)
        found[sources / "operators.gen.h"] = emit.operators_header(checked)
        found[sources / "operators.gen.cpp"] = emit.table_source(checked)
        for family, entries in groupby(checked.entries, key=lambda entry: entry.entry.family):
            found[sources / f"{family}.gen.cpp"] = emit.family_source(checked, family, entries)
    fake = target("fake")
    if fake is not None:
        found[fake / "functions.gen.h"] = emit_fake.header(library)
        found[fake / "functions.gen.cpp"] = emit_fake.source(library)
    page = target("page")
    if page is not None:
        found[page] = emit_page.page(checked)
    functions = target("functions")
    if functions is not None:
        found[functions] = emit_table.table(checked)
    return found


def outputs_that_differ(wanted: dict[Path, str]) -> list[Path]:
    """Return the files that do not exist or have different contents."""
    return [
        file
        for file, text in wanted.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]


def write_outputs(wanted: dict[Path, str]) -> list[Path]:
    """Write the files that differ and return them.

    A file that does not differ keeps its time, so that it is not compiled again.
    """
    differing = outputs_that_differ(wanted)
    for file in differing:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wanted[file], encoding="utf-8")
    return differing
