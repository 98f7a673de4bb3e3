"""Lists of the vendors of this repository, in the tests of their packages."""

from __future__ import annotations

from pathlib import Path

from dl_torch_tests.vendor_lists import VendorLists

ROOT = Path(__file__).parents[2]
PATTERNS = ("packages/vendor-{vendor}/tests", "tests/plugins/vendor-{vendor}/tests")
"""Folders that may have lists. Not a setting of pytest.ini, which packages whose tests run without
dl-torch-tests share."""
LISTS = VendorLists.below(ROOT, PATTERNS)
