"""Location of a vendor's own lists, which are in the tests of its package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
HOMES = ("packages", "tests/plugins")


def list_of(vendor: str, name: str, root: Path = ROOT) -> Path | None:
    """Return the path of a vendor's list, whether it exists or not; None if no package has this
    vendor.

    :param vendor: name in ``DL_VENDORS``.
    :param name: file name of the list.
    """
    for home in HOMES:
        package = root / home / f"vendor-{vendor}"
        if package.is_dir():
            return package / "tests" / name
    return None
