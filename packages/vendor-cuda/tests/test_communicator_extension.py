"""Tests of collectives between devices: a fake NCCL, which checks its arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests.communicators import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from processes import doctor


@pytest.fixture
def communicating(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> SimulatedVendor:
    return simulated_vendor.with_devices(3).with_variables(
        DL_CUDA_NCCL=fake_library("nccl"), FAKE_NCCL_FOLDER=str(tmp_path)
    )


def test_without_nccl_there_is_no_communicator(simulator: str) -> None:
    found = doctor(DL_CUDA_DRIVER=simulator, DL_CUDA_NCCL="off")
    assert "communicator" not in found["extensions"]
