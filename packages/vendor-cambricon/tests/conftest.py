"""Fakes of Cambricon's libraries for tests, compiled once per session."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "vendor-kit"))

from driver_tests.fixtures import *  # noqa: F403 - pytest finds them here
from extension_tests.simulated_vendor import SimulatedVendor

from processes import PROCESSES, Processes, compile_runtime, run

GIVEN = "DL_TEST_CAMBRICON_SIMULATED"
"""Variable with the folder of a build with fakes, which tools/simulated.py sets."""
with_fakes = pytest.mark.skipif(
    not os.environ.get(GIVEN), reason="slow: packages/vendor-cambricon/tools/simulated.py runs it"
)


@pytest.fixture(scope="session")
def processes() -> Processes:
    return PROCESSES


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the fake libcnrt and return its path for DL_CAMBRICON_DRIVER."""
    return compile_runtime(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="session")
def old_runtime(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a fake libcnrt that lacks a function."""
    return compile_runtime(tmp_path_factory.mktemp("old"), "-DOLD")


@pytest.fixture
def fake_vendor(runtime: str) -> SimulatedVendor:
    """Return this vendor on the fake runtime, for the shared tests."""
    waits = "cnrtQueueSync:632015,cnrtSyncDevice:632015"
    return SimulatedVendor(
        PROCESSES,
        devices=lambda count: {"FAKE_CNRT_DEVICES": str(count)},
        fails={"wait": {"FAKE_CNRT_FAIL": waits}},
        variables={"DL_CAMBRICON_DRIVER": runtime},
        out_of_memory=100100,
        lost_device=632015,
    )


@pytest.fixture
def simulated_vendor(fake_vendor: SimulatedVendor) -> SimulatedVendor:
    """Return this vendor on the fakes of the wheel."""
    path = os.pathsep.join(filter(None, [os.environ[GIVEN], os.environ.get("PYTHONPATH")]))
    code = """
    import json
    from dl_vendor_cambricon.presence import simulated
    print(json.dumps(simulated()))
    """
    return fake_vendor.with_variables(PYTHONPATH=path, **json.loads(run(code, PYTHONPATH=path)))
