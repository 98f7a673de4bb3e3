"""The device that all tests here run on. One of them without it has failed, not been skipped."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def device() -> torch.device:
    found = torch.accelerator.current_accelerator()
    if found is None or found.type != "dl":
        pytest.fail(
            f"torch's accelerator is {found}, not dl: install dl-core and a vendor, and let "
            f"`dl doctor` say why no device is visible",
            pytrace=False,
        )
    return torch.device("dl")
