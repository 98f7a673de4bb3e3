"""The lists of known failures: strict, and each with its cause.

What fails because of dl itself is in ``known_failures.txt`` here; a vendor keeps what is its own in
``tests/opinfo_known_failures.txt`` of its package.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from .vendor_lists import list_of

MODES = ("forward", "out", "in-place", "backward", "native")
ANY = "*"
SHARED = Path(__file__).with_name("known_failures.txt")
NAME = "opinfo_known_failures.txt"
"""Of a vendor's own list."""


class KnownFailuresError(ValueError):
    """A line that does not fit."""


Key = tuple[str, str, str]
"""(operator, mode, dtype)"""


def parse(text: str, where: str, modes: Collection[str] = MODES) -> dict[Key, str]:
    """Read lines ``operator | mode | dtype | cause``; blank ones and ``#`` comments say nothing.

    A dtype ``*`` stands for every dtype the operator has, where it fails in all of them.

    :raises KnownFailuresError: a part is missing, the mode is unknown, a key is there twice.
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
            raise KnownFailuresError(f"{where}:{number}: {name} | {mode} | {dtype} is there twice")
        found[name, mode, dtype] = cause
    return found


def known_on(vendor: str) -> dict[Key, str]:
    """What is known to fail on a vendor, as ``DL_VENDORS`` names it.

    :raises KnownFailuresError: as :func:`load`.
    """
    return load(list_of(vendor, NAME))


def load(own: Path | None, shared: Path = SHARED, modes: Collection[str] = MODES) -> dict[Key, str]:
    """What a vendor's list, which need not be there, and the one of all vendors have.

    :raises KnownFailuresError: as :func:`parse`; or the vendor lists what fails everywhere.
    """
    everywhere = parse(shared.read_text(encoding="utf-8"), shared.name, modes)
    if own is None or not own.exists():
        return everywhere
    there = parse(own.read_text(encoding="utf-8"), str(own), modes)
    for name, mode, dtype in sorted(there.keys() & everywhere.keys()):
        raise KnownFailuresError(f"{own}: {name} | {mode} | {dtype} is in {shared.name} already")
    return everywhere | there


def cause_of(known: dict[Key, str], name: str, mode: str, dtype: str) -> str | None:
    """Why it fails; None if it has to pass."""
    return known.get((name, mode, dtype)) or known.get((name, mode, ANY))
