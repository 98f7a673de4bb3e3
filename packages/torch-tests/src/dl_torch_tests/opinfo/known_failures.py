"""Strict lists of known failures, each with its cause.

Failures because of dl itself are in ``known_failures.txt`` here; a vendor's own are in
``opinfo_known_failures.txt`` of its repository, see :mod:`dl_torch_tests.vendor_lists`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ..vendor_lists import VendorLists

MODES = ("forward", "out", "in-place", "backward", "native")
ANY = "*"
SHARED = Path(__file__).with_name("known_failures.txt")
NAME = "opinfo_known_failures.txt"
"""File name of a vendor's own list."""


class KnownFailuresError(ValueError):
    """An invalid line of a list."""


Key = tuple[str, str, str]
"""(operator, mode, dtype)"""


def parse(text: str, where: str, modes: Collection[str] = MODES) -> dict[Key, str]:
    """Read lines ``operator | mode | dtype | cause``; blank lines and ``#`` comments are ignored.

    A dtype ``*`` stands for every dtype of the operator, if every one fails.

    :raises KnownFailuresError: a part is missing, the mode is unknown, or a key occurs twice.
    """
    found: dict[Key, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 4 or not all(parts):
            raise KnownFailuresError(f"{where}:{number}: want 'operator | mode | dtype | cause'")
        name, mode, dtype, cause = parts
        if mode not in modes:
            raise KnownFailuresError(f"{where}:{number}: mode {mode!r} is not one of {modes}")
        if (name, mode, dtype) in found:
            raise KnownFailuresError(f"{where}:{number}: {name} | {mode} | {dtype} is listed twice")
        found[name, mode, dtype] = cause
    return found


def known_on(vendor: str, lists: VendorLists) -> dict[Key, str]:
    """Return the known failures of a vendor, as named in ``DL_VENDORS``.

    :raises KnownFailuresError: see :func:`load`.
    """
    return load(lists.find(vendor, NAME))


def load(own: Path | None, shared: Path = SHARED, modes: Collection[str] = MODES) -> dict[Key, str]:
    """Merge a vendor's list, which is optional, and the list of all vendors.

    :raises KnownFailuresError: see :func:`parse`; or the vendor lists a failure of all vendors.
    """
    everywhere = parse(shared.read_text(encoding="utf-8"), shared.name, modes)
    if own is None or not own.exists():
        return everywhere
    there = parse(own.read_text(encoding="utf-8"), str(own), modes)
    for name, mode, dtype in sorted(there.keys() & everywhere.keys()):
        raise KnownFailuresError(f"{own}: {name} | {mode} | {dtype} is already in {shared.name}")
    return everywhere | there


def cause_of(known: dict[Key, str], name: str, mode: str, dtype: str) -> str | None:
    """Return the cause of a known failure; None if the test has to pass."""
    return known.get((name, mode, dtype)) or known.get((name, mode, ANY))
