"""The files that are generated from the data of a library."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from . import emit, emit_fake, emit_functions, emit_page, emit_signatures, emit_table
from .checked import Checked
from .output_paths import OUTPUT_FOLDERS, check_files, input_files, is_generated, target


def outputs(checked: Checked) -> dict[Path, str]:
    """Return the contents of the generated files by path.

    :raises DataError: a path of ``outputs`` is invalid.
    """
    library = checked.library
    found: dict[Path, str] = {}
    keys: dict[Path, list[str]] = {}

    def add(key: str, path: Path, text: str) -> None:
        found[path] = text
        keys.setdefault(path, []).append(key)

    for key in library.outputs:
        path = target(library, key)
        if key == "sources":
            for name, text in _sources(checked).items():
                add(key, path / name, text)
        elif key == "fake":
            add(key, path / "functions.gen.h", emit_fake.header(library))
            add(key, path / "functions.gen.cpp", emit_fake.source(library))
        elif key == "page":
            add(key, path, emit_page.page(checked))
        else:
            add(key, path, emit_table.table(checked))
    check_files(library, keys)
    return found


def _sources(checked: Checked) -> dict[str, str]:
    """Return the generated sources by their names."""
    library = checked.library
    found = {
        "functions.gen.h": emit_functions.functions_header(library),
        "functions.gen.cpp": emit_functions.functions_source(library),
        "operators.gen.h": emit.operators_header(checked),
        "operators.gen.cpp": emit.table_source(checked),
    }
    if library.header:
        found["signatures.gen.cpp"] = emit_signatures.source(library)
    for family, entries in groupby(checked.entries, key=lambda entry: entry.entry.family):
        found[f"{family}.gen.cpp"] = emit.family_source(checked, family, entries)
    return found


def stale_outputs(checked: Checked, wanted: dict[Path, str]) -> list[Path]:
    """Return the generated sources that an earlier description made, and this one does not."""
    library = checked.library
    kept = {*wanted, *input_files(library)}
    return [
        file
        for key in OUTPUT_FOLDERS
        if key in library.outputs
        for file in sorted(target(library, key).glob("*.gen.*"))
        if file not in kept and file.is_file() and is_generated(file)
    ]
