"""Tests of collectives between devices: a fake NCCL, which checks its arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from extension_tests.communicators import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from processes import compile_library, doctor


@pytest.fixture(scope="module")
def fake_nccl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a libnccl.so.2 that exchanges data through files, and return its path."""
    return str(compile_library("nccl", tmp_path_factory.mktemp("nccl")))


@pytest.fixture
def communicating(
    simulated_vendor: SimulatedVendor, fake_nccl: str, tmp_path: Path
) -> SimulatedVendor:
    return simulated_vendor.with_devices(3).with_variables(
        DL_CUDA_NCCL=fake_nccl, FAKE_NCCL_FOLDER=str(tmp_path)
    )


def test_without_nccl_there_is_no_communicator(simulator: str) -> None:
    found = doctor(DL_CUDA_DRIVER=simulator, DL_CUDA_NCCL="off")
    assert "communicator" not in found["extensions"]
