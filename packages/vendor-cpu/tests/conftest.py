"""The vendor under test: the library that the plugin would choose here, or DL_TEST_LIBRARY."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from diopi_proto import Vendor, load_vendor
from dl_vendor_cpu.plugin import dl_vendor


@pytest.fixture(scope="session")
def vendor() -> Iterator[Vendor]:
    with load_vendor(os.environ.get("DL_TEST_LIBRARY") or dl_vendor().library) as opened:
        yield opened
