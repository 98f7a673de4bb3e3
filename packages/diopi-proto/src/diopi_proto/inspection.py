"""Inspection of a vendor library's file before it is loaded."""

from __future__ import annotations

import re
from collections.abc import Set
from fnmatch import fnmatchcase
from pathlib import Path

from .elf import ElfError, ElfFile, read_elf, read_identity, running_identity
from .errors import AbiMismatchError, VendorLoadError
from .schema import load
from .trust import why_untrusted
from .vendorbuild.rules import ENTRY_SYMBOL, OPERATORS_SYMBOL

LEGACY_NAMES = frozenset({"diopiGetVendorName", "diopiGetImplVersion", "diopiGetLastErrorString"})
"""Functions that a library in DIOPI's own style may export in addition to operators."""

_FRAMEWORKS = ("libtorch*", "libc10*", "libpython*")
_VERSIONED_ENTRY = re.compile(r"dl_vendor_v(\d{1,9})", re.ASCII)


def inspect_library(path: Path, *, legacy: bool = False, added: bool = False) -> ElfFile:
    """Check whether a library can be loaded as a vendor, by inspecting its file only.

    :param added: the library adds operators to a vendor's devices.
    :raises VendorLoadError: the library is missing, damaged, for another machine, linked to torch
        or Python, has an rpath that other users can write to, lacks a vendor's symbols, or exports
        them as data.
    """
    kind = "library" if added else "vendor library"
    if not path.is_file():
        raise VendorLoadError(f"{kind} {path} does not exist; reinstall the wheel that names it")
    try:
        identity, running = read_identity(path), running_identity()
        if identity != running:
            raise VendorLoadError(
                f"{kind} {path} is for {identity}; this process runs as {running}. "
                "Install the vendor's wheel for this machine."
            )
        elf = read_elf(path)
    except (ElfError, OSError) as error:
        raise VendorLoadError(f"{kind} {path} cannot be read: {error}") from error
    for needed in elf.needed:
        if any(fnmatchcase(needed, pattern) for pattern in _FRAMEWORKS):
            raise VendorLoadError(
                f"{kind} {path} is linked to {needed}, but its operators would get no "
                "objects of torch or Python. Only libraries without both can be loaded."
            )
    _check_rpath(elf)
    if added:
        _check_added(elf)
    elif legacy:
        _check_legacy(elf)
    else:
        _check_entry(elf)
    entry = OPERATORS_SYMBOL if added else ENTRY_SYMBOL
    _check_code(elf, LEGACY_NAMES | load().keys() if legacy else {entry})
    return elf


def _check_code(elf: ElfFile, called: Set[str]) -> None:
    """Reject a library whose exported symbols of these names are not functions."""
    data = sorted(elf.data & called)
    if not data:
        return
    name = data[0]
    more = f" and {len(data) - 1} more names" if len(data) > 1 else ""
    raise VendorLoadError(
        f"vendor library {elf.path} exports {name}{more} as data, which cannot be called; "
        f"export a function of that name, as the headers of dl-diopi-proto declare it."
    )


def _check_rpath(elf: ElfFile) -> None:
    """Reject an rpath that other users can write to: the loader searches it first."""
    for part in elf.rpath:
        folder = part.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(elf.path.parent))
        reason = why_untrusted(folder)
        if reason is not None:
            raise VendorLoadError(
                f"vendor library {elf.path} has the rpath entry {part!r}, which the loader "
                f"searches first and which is not trusted: {reason}. Build it with $ORIGIN, or "
                "without an rpath."
            )


def _check_entry(elf: ElfFile) -> None:
    if ENTRY_SYMBOL in elf.exported:
        return
    others = sorted(
        int(found.group(1))
        for name in elf.exported
        if (found := _VERSIONED_ENTRY.fullmatch(name)) is not None
    )
    if others:
        shown = ", ".join(str(version) for version in others)
        raise AbiMismatchError(
            f"{elf.path} was built for vendor ABI {shown}, this dl-diopi-proto loads ABI 1. "
            f"Install a dl-diopi-proto that loads ABI {others[-1]} or an older vendor release."
        )
    hint = ""
    if elf.exported & load().keys():
        hint = " It exports DIOPI operators by name: load it with legacy=True."
    raise VendorLoadError(
        f"{elf.path} is not a vendor library: it does not export {ENTRY_SYMBOL}.{hint}"
    )


def _check_added(elf: ElfFile) -> None:
    if OPERATORS_SYMBOL not in elf.exported:
        raise VendorLoadError(
            f"{elf.path} adds no operators: it does not export {OPERATORS_SYMBOL}, which "
            "dl/added_operators.h declares"
        )


def _check_legacy(elf: ElfFile) -> None:
    if not elf.exported & load().keys():
        hint = (
            " It exports dl_vendor_v1: load it without legacy."
            if ENTRY_SYMBOL in elf.exported
            else ""
        )
        raise VendorLoadError(f"{elf.path} exports no DIOPI operator.{hint}")
