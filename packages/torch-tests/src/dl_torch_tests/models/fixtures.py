"""Fixtures of tests of models: without the device, they fail instead of being skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def device() -> torch.device:
    found = torch.accelerator.current_accelerator()
    if found is None or found.type != "dl":
        pytest.fail(
            f"torch's accelerator is {found}, not dl: install dl-core and a vendor; `dl doctor` "
            "reports why no device is visible",
            pytrace=False,
        )
    return torch.device("dl")


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread unless a test sets more: on a busy machine, two threads wait for each other.

    The models are so small that waiting would take most of the time.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
