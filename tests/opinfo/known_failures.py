"""The lists of known failures: strict, and each with its cause."""

from __future__ import annotations

from .vendor_lists import path_of

MODES = ("forward", "out", "in-place", "backward", "native")
ANY = "*"


class KnownFailuresError(ValueError):
    """A line that does not fit."""


Key = tuple[str, str, str]
"""(operator, mode, dtype)"""


def parse(text: str, where: str) -> dict[Key, str]:
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
        if mode not in MODES:
            raise KnownFailuresError(f"{where}:{number}: mode {mode!r} is not one of {MODES}")
        if (name, mode, dtype) in found:
            raise KnownFailuresError(f"{where}:{number}: {name} | {mode} | {dtype} is there twice")
        found[name, mode, dtype] = cause
    return found


def load(vendor: str) -> dict[Key, str]:
    """The list of a vendor; one without a list has no known failures."""
    path = path_of(vendor, "known_failures.txt")
    return parse(path.read_text(), str(path)) if path.exists() else {}


def cause_of(known: dict[Key, str], name: str, mode: str, dtype: str) -> str | None:
    """Why it fails; None if it has to pass."""
    return known.get((name, mode, dtype)) or known.get((name, mode, ANY))
