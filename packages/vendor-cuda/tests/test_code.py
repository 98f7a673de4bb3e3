"""Tests of the GPUs and drivers that a library's device code supports."""

from __future__ import annotations

import subprocess
from pathlib import Path

CHECKS = """
#include "runtime/code.h"

#include <cstdio>

using dl::cuda::DeviceCode;

int failures = 0;
#define CHECK(condition)                                   \\
  do {                                                     \\
    if (!(condition)) {                                    \\
      ++failures;                                          \\
      std::fprintf(stderr, "%d: %s\\n", __LINE__, #condition); \\
    }                                                      \\
  } while (false)

int main() {
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
  return failures;
}
"""


def test_code_and_devices(tmp_path: Path) -> None:
    source, program = tmp_path / "checks.cpp", tmp_path / "checks"
    source.write_text(CHECKS, encoding="utf-8")
    sources = Path(__file__).parents[1] / "csrc"
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{sources}"]
    subprocess.run([*command, str(source), "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
