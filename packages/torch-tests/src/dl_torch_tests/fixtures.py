"""Fixtures of all tests: the vendor of dl:0, and the folders with its lists."""

from __future__ import annotations

import pytest
import torch

from .vendor_lists import VendorLists


@pytest.fixture(scope="session")
def vendor() -> str:
    """The vendor of dl:0."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    return str(torch.dl.get_device_properties(0).vendor)


@pytest.fixture(scope="session")
def lists(pytestconfig: pytest.Config) -> VendorLists:
    """The folders with the vendor's lists."""
    return VendorLists.of(pytestconfig)
