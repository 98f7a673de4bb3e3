"""The vendor under test: the library that the plugin would choose here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from diopi_proto import Vendor, load_vendor
from dl_vendor_cpu.plugin import dl_vendor


@pytest.fixture(scope="session")
def vendor() -> Iterator[Vendor]:
    with load_vendor(dl_vendor().library) as opened:
        yield opened
