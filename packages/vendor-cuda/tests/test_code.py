"""Tests of the GPUs and drivers that a library's device code supports."""

from __future__ import annotations

from pathlib import Path

from processes import Processes

CHECKS = """
#include "runtime/code.h"

#include "check.h"

using dl::cuda::DeviceCode;

MAIN {
  const DeviceCode ptx("compute_75"), machine("sm_80 sm_90"), both("sm_80 compute_90");
  // PTX runs on its capability and all later ones.
  CHECK(!ptx.runs_on(70) && ptx.runs_on(75) && ptx.runs_on(90) && ptx.runs_on(120));
  // Machine code runs on later GPUs of the same major version.
  CHECK(!machine.runs_on(75) && machine.runs_on(80) && machine.runs_on(89));
  CHECK(machine.runs_on(90) && !machine.runs_on(100));
  CHECK(both.runs_on(86) && both.runs_on(100) && !both.runs_on(61));
  // PTX needs a driver as new as the compiler, machine code one of its major version.
  CHECK(ptx.needed_version(13020) == 13020);
  CHECK(machine.needed_version(13020) == 13000 && both.needed_version(13020) == 13000);
}
"""


def test_code_and_devices(processes: Processes, tmp_path: Path) -> None:
    processes.run_checks(CHECKS, tmp_path)
