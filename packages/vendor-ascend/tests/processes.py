"""Child processes and fakes of CANN's libraries for the tests of this vendor."""

from __future__ import annotations

import sys
from pathlib import Path

from driver_tests.processes import FAKES, Processes

sys.path.insert(0, str(FAKES))

from ascend.runtime.build import build_hccl, build_runtime

SETTINGS = ("DL_ASCEND_", "FAKE_ACL", "FAKE_HCCL", "ASCEND_", "HCCL_", "DL_VENDORS")
PROCESSES = Processes("ascend", SETTINGS, "libascendcl.so")
run, run_on_vendor, doctor = PROCESSES.run, PROCESSES.run_on_vendor, PROCESSES.doctor


def compile_runtime(folder: Path, *flags: str) -> str:
    """Build the fake libascendcl; fake_acl.cpp has its variables."""
    return str(build_runtime(folder, *flags))


def compile_hccl(folder: Path, runtime: str, *flags: str) -> str:
    """Build the fake libhccl on a fake libascendcl; communicators.cpp has its variables."""
    return str(build_hccl(folder, *flags, runtime=Path(runtime)))
