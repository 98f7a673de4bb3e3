"""Every operator of the vendor has a call that works, so that tests of all operators reach it."""

from __future__ import annotations

import pytest

from calls import calls_of
from diopi_proto import Vendor
from support import operators


@pytest.mark.parametrize("name", operators())
def test_calls_work(vendor: Vendor, name: str) -> None:
    for call in calls_of(name):
        call.run(vendor)
