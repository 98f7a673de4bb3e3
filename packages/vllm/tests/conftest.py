"""Fixtures for tests on the dl device of this process; without a device the tests fail."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _device() -> None:
    import torch

    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    torch.manual_seed(0)
