"""Lists of the vendors of this repository, in the tests of their packages."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

from dl_torch_tests.vendor_lists import SETTING, VendorLists

ROOT = Path(__file__).parents[2]


def _configured() -> VendorLists:
    """Return the folders that pytest.ini names."""
    config = ConfigParser()
    config.read(ROOT / "pytest.ini", encoding="utf-8")
    return VendorLists.below(ROOT, config["pytest"][SETTING].split())


LISTS = _configured()
