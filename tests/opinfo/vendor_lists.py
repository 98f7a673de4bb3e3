"""Where a vendor keeps what these tests know of it: the folder ``opinfo`` of its own package.

``known_failures.txt`` and ``without_fallback.txt`` stand there, so that a vendor adds no file here.
One without the folder has no list: nothing may fail, and fallbacks are not looked at.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("packages/vendor-{}/opinfo", "tests/plugins/vendor-{}/opinfo")


def path_of(vendor: str, name: str) -> Path:
    """The file ``name`` of a vendor, which may be missing."""
    folders = [ROOT / pattern.format(vendor) for pattern in PACKAGES]
    return next((folder for folder in folders if folder.is_dir()), folders[0]) / name
