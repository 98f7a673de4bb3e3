"""Fixtures for frameworks on the dl device of this process; without a device the tests fail."""

from __future__ import annotations

import os

import pytest

# Nothing is downloaded, and no telemetry is sent.
os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TOKENIZERS_PARALLELISM="false")


@pytest.fixture(autouse=True)
def _device() -> None:
    import torch

    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    torch.manual_seed(0)
