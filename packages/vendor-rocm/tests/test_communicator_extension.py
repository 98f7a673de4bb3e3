"""Tests of collectives between devices: a fake RCCL, which checks its arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests import communicators
from extension_tests.communicators import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import long
from processes import doctor

test_torch_uses_it = long(communicators.test_torch_uses_it)
test_a_rank_that_dies_is_an_error_of_the_others = long(
    communicators.test_a_rank_that_dies_is_an_error_of_the_others
)
test_failures_of_nccl_are_reported = long(communicators.test_failures_of_nccl_are_reported)


@pytest.fixture
def communicating(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> SimulatedVendor:
    return simulated_vendor.with_devices(3).with_variables(
        DL_ROCM_RCCL=fake_library("rccl"), FAKE_NCCL_FOLDER=str(tmp_path)
    )


def test_without_rccl_there_is_no_communicator(simulated_vendor: SimulatedVendor) -> None:
    found = doctor(**simulated_vendor.with_variables(DL_ROCM_RCCL="off").variables)
    assert "communicator" not in found["extensions"]
    assert found["libraries"]["RCCL"] == "off (DL_ROCM_RCCL)"


def test_the_doctor_shows_it(communicating: SimulatedVendor) -> None:
    found = doctor(**communicating.variables)
    assert "communicator" in found["extensions"]
    assert found["libraries"]["RCCL"] == communicating.variables["DL_ROCM_RCCL"]
