"""Lists of the vendors of this repository, in the tests of their packages."""

from __future__ import annotations

from pathlib import Path

from dl_torch_tests.vendor_lists import DEFAULT, VendorLists

ROOT = Path(__file__).parents[2]
# Without a setting in pytest.ini, which packages whose tests run without dl-torch-tests share.
LISTS = VendorLists.below(ROOT, DEFAULT)
