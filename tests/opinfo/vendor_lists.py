"""Lists of known failures of this repository's vendors, in the tests of their packages."""

from __future__ import annotations

from pathlib import Path

from dl_torch_tests.vendor_lists import DEFAULT, VendorLists

ROOT = Path(__file__).parents[2]
# Not a setting in pytest.ini: packages that are tested without dl-torch-tests share that file.
LISTS = VendorLists.below(ROOT, DEFAULT)
