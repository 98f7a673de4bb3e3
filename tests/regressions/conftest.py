"""Tests of what was once wrong, by topic: they need dl-core and a vendor, and fail without."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator

import pytest
import torch

SECONDS_PER_TEST = 120


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """Fails, rather than skips, where there is no device; ends a process that hangs."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    faulthandler.dump_traceback_later(SECONDS_PER_TEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    assert torch.dl.fallback_mode() == "allow", "the test left the fallback forbidden"
    torch.dl.set_device(0)
