"""Judge a finished vendor library by the build rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ..elf import ElfFile, read_elf
from ..errors import BuildError
from .rules import ENTRY_SYMBOL, FORBIDDEN_LIBRARIES


def check_library(
    path: str | Path, *, exports: Sequence[str] = (ENTRY_SYMBOL,), legacy: bool = False
) -> ElfFile:
    """Check that a shared library keeps the build rules, and return what was read.

    :param exports: names, or glob patterns, of all that it may export; the names must be there.
    :param legacy: a library in DIOPI's style, whose runtime functions the host provides.
    :raises BuildError: names every rule that is broken, with the cure.
    :raises diopi_proto.elf.ElfError: no readable ELF file.
    """
    library = read_elf(path)
    problems = list(_problems(library, exports, legacy))
    if problems:
        raise BuildError(f"{path} breaks the build rules:\n  " + "\n  ".join(problems))
    return library


def _problems(library: ElfFile, exports: Sequence[str], legacy: bool) -> Iterable[str]:
    for needed in library.needed:
        if any(fnmatchcase(needed, pattern) for pattern in FORBIDDEN_LIBRARIES):
            yield f"it needs {needed} at load; a vendor library links neither torch nor us"
    if library.unique:
        yield (
            f"UNIQUE symbols are shared between libraries: {_some(library.unique)}; "
            "compile with -fno-gnu-unique"
        )
    surplus = {
        name
        for name in library.exported
        if not any(fnmatchcase(name, pattern) for pattern in exports)
    }
    if surplus:
        yield (
            f"it exports more than {_some(exports)}: {_some(surplus)}; "
            "compile with -fvisibility=hidden and link with a version script"
        )
    plain = {name for name in exports if not any(c in name for c in "*?[")}
    missing = plain - library.exported
    if missing:
        yield f"it does not export {_some(missing)}; is it declared DL_EXPORT and extern C?"
    foreign = {n for n in library.undefined if n.startswith(("Py", "_Py"))}
    if not legacy:
        foreign |= {n for n in library.undefined if n.startswith("diopi")}
    if foreign:
        yield f"it leaves {_some(foreign)} undefined; no library provides that"
    absolute = [part for part in library.rpath if not part.startswith("$ORIGIN")]
    if absolute:
        yield f"its rpath {_some(absolute)} holds only where it was built; use $ORIGIN or none"


def _some(names: Iterable[str], limit: int = 5) -> str:
    ordered = sorted(names)
    shown = ", ".join(ordered[:limit])
    return shown if len(ordered) <= limit else f"{shown} and {len(ordered) - limit} more"
