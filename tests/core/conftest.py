"""Tests of the dl device as seen by users: they need dl-core and a vendor, and fail without."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator

import pytest
import torch

SECONDS_PER_TEST = 120


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """Fail, rather than skip, without a device; kill a process that hangs."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    faulthandler.dump_traceback_later(SECONDS_PER_TEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    assert torch.dl.fallback_mode() == "allow", "the test left the fallback forbidden"
    torch.dl.set_device(0)


@pytest.fixture
def vendor() -> str:
    """The vendor of dl:0."""
    return str(torch.dl.get_device_properties(0).vendor)
