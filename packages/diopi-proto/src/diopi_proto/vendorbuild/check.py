"""Check of a finished vendor library against the build rules."""

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
    """Check that a shared library follows the build rules, and return its parsed ELF file.

    :param exports: names, which must be exported, and glob patterns of other allowed exports.
    :param legacy: a library in DIOPI's style, whose runtime functions the host provides.
    :raises BuildError: rules are violated; the message lists each with its remedy.
    :raises diopi_proto.elf.ElfError: it is not a readable ELF file.
    """
    library = read_elf(path)
    problems = list(_problems(library, exports, legacy))
    if problems:
        raise BuildError(f"{path} violates the build rules:\n  " + "\n  ".join(problems))
    return library


def _problems(library: ElfFile, exports: Sequence[str], legacy: bool) -> Iterable[str]:
    for needed in library.needed:
        if any(fnmatchcase(needed, pattern) for pattern in FORBIDDEN_LIBRARIES):
            yield f"it needs {needed} at load; a vendor library must link neither torch nor dl"
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
            f"it exports more than {_some(exports)}: {_some(surplus)}; compile with "
            "-fvisibility=hidden and link with a version script"
        )
    plain = {name for name in exports if not any(c in name for c in "*?[")}
    missing = plain - library.exported
    if missing:
        yield f'it does not export {_some(missing)}; declare it DL_EXPORT and extern "C"'
    foreign = {n for n in library.undefined if n.startswith(("Py", "_Py"))}
    if not legacy:
        foreign |= {n for n in library.undefined if n.startswith("diopi")}
    if foreign:
        yield f"it leaves {_some(foreign)} undefined; no library that it needs provides them"
    absolute = [part for part in library.rpath if not part.startswith("$ORIGIN")]
    if absolute:
        yield f"its rpath {_some(absolute)} is valid only on the build machine; use $ORIGIN or none"


def _some(names: Iterable[str], limit: int = 5) -> str:
    ordered = sorted(names)
    shown = ", ".join(ordered[:limit])
    return shown if len(ordered) <= limit else f"{shown} and {len(ordered) - limit} more"
