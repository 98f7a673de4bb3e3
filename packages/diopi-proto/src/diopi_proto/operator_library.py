"""Functions that a vendor calls in its chip's operator library, and those that are missing there.

A missing function disables the cases of operators that call it, and the host computes these. This
module reports that for ``dl doctor`` and opens no library. It imports next to nothing, because
``import torch`` imports plugins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .companions import installed_paths

__all__ = ["describe_functions"]

_MOST = 10
"""Maximum number of missing functions, and of operators of each, in a report."""


def describe_functions(
    table: Path,
    names: Iterable[str] | None = None,
    folders: Iterable[Path] = (),
    environ: Mapping[str, str] = os.environ,
) -> str:
    """Return how many of the functions the installed library has, and what the others disable.

    :param table: ``functions.json`` of dl-vendor-kit's generator: the names of the library's files,
        and the symbols and operators of each function.
    :param names: names or paths of the files, if the vendor opens others than those of the table.
    :param folders: folders that the vendor searches before the loader's own.
    """
    import json

    from .elf import ElfError, read_elf

    try:
        data = json.loads(table.read_text(encoding="utf-8"))
        functions: Mapping[str, Mapping[str, list[str]]] = data["functions"]
        wanted = list(data["open"] if names is None else names)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"unknown: {table} cannot be read ({error}); reinstall the wheel"
    files = list(_files(wanted, [Path(folder) for folder in folders], environ))
    if not files:
        return f"unknown: no file of {', '.join(wanted)} was found"
    exported: set[str] = set()
    for file in files:
        try:
            exported |= read_elf(file).exported
        except (ElfError, OSError) as error:
            return f"unknown: {error}"
    missing = {
        name: entry["operators"]
        for name, entry in functions.items()
        if not exported.issuperset(entry["symbols"])
    }
    found = ", ".join(map(str, files))
    if not missing:
        return f"all {len(functions)} are in {found}"
    return (
        f"{len(missing)} of {len(functions)} are missing in {found}, which disables cases of these "
        f"operators: {_listed(missing)}; a later release of the library may have them"
    )


def _listed(missing: Mapping[str, list[str]]) -> str:
    shown = [f"{name} ({_first(missing[name])})" for name in list(missing)[:_MOST]]
    more = len(missing) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _first(operators: list[str]) -> str:
    more = len(operators) - _MOST
    return ", ".join(operators[:_MOST]) + (f" and {more} more" if more > 0 else "")


def _files(names: Iterable[str], folders: list[Path], environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that the vendor would open, in the order of ``dl/kit/library/symbols.h``."""
    given = [Path(x) for x in environ.get("LD_LIBRARY_PATH", "").split(":") if x]
    for name in names:
        if "*" in name:
            yield from _matches(name, [*folders, *given])
            continue
        first = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if first is None and "/" in name:
            first = Path(name) if Path(name).is_file() else None
        elif first is None:
            first = next(map(Path, installed_paths(name, environ)), None)
        if first is not None:
            yield first


def _matches(pattern: str, folders: Iterable[Path]) -> list[Path]:
    """Return the files of one folder, because those of two could be of two releases."""
    found = (sorted(folder.glob(pattern)) for folder in folders if folder.is_dir())
    return next(filter(None, found), [])
