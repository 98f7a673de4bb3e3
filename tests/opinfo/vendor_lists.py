"""Where a vendor keeps its own lists: in the tests of its package, and nowhere here."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
HOMES = ("packages", "tests/plugins")


def list_of(vendor: str, name: str, root: Path = ROOT) -> Path | None:
    """The path of a vendor's list, whether it is there or not; None if no package is the vendor's.

    :param vendor: as ``DL_VENDORS`` names it.
    :param name: the list's file.
    """
    for home in HOMES:
        package = root / home / f"vendor-{vendor}"
        if package.is_dir():
            return package / "tests" / name
    return None
