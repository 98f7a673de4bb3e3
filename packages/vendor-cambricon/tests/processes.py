"""Child processes and fakes of Cambricon's libraries for the tests of this vendor."""

from __future__ import annotations

import sys
from pathlib import Path

from driver_tests.processes import FAKES, Processes

sys.path.insert(0, str(FAKES))

from cambricon.runtime.build import build_runtime

SETTINGS = ("DL_CAMBRICON_", "FAKE_CNRT", "FAKE_CNNL", "NEUWARE_", "MLU_", "DL_VENDORS")
PROCESSES = Processes("cambricon", SETTINGS, "libcnrt.so")
run, run_on_vendor, doctor = PROCESSES.run, PROCESSES.run_on_vendor, PROCESSES.doctor


def compile_runtime(folder: Path, *flags: str) -> str:
    """Build the fake libcnrt; fake_cnrt.cpp has its variables."""
    return str(build_runtime(folder, *flags))
