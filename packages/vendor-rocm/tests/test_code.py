"""Tests of the GPUs that a library's device code supports, and of the compiler's targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_kernels.hipcc import Hipcc, HipccError, find_hipcc, processors
from processes import Processes

CHECKS = """
#include "runtime/code.h"

#include "check.h"

using dl::rocm::DeviceCode;

MAIN {
  const DeviceCode two("gfx90a gfx1030"), emulated("emulated");
  CHECK(two.runs_on("gfx90a") && two.runs_on("gfx1030"));
  CHECK(!two.runs_on("gfx90") && !two.runs_on("gfx103") && !two.runs_on(""));
  CHECK(emulated.runs_on("gfx1201") && emulated.is_emulated() && !two.is_emulated());
  CHECK(dl::rocm::processor_of("gfx90a:sramecc+:xnack-") == "gfx90a");
  CHECK(dl::rocm::processor_of("gfx1030") == "gfx1030");
  CHECK(dl::rocm::major_of(50221153) == 5 && dl::rocm::version_text(50221153) == "5.2");
  CHECK(dl::rocm::version_text(71025424) == "7.10");
}
"""


def test_code_and_devices(processes: Processes, tmp_path: Path) -> None:
    processes.run_checks(CHECKS, tmp_path)


@pytest.fixture
def compiler(tmp_path: Path) -> Hipcc:
    """Return a fake compiler that reports support for gfx90a and gfx1030."""
    program = tmp_path / "hipcc"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '  --version) echo "HIP version: 6.3.42131-fa1d09cbd";;\n'
        "  *gfx90a*|*gfx1030*) ;;\n"
        '  *) echo "error: invalid target ID" >&2; exit 1;;\n'
        "esac\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return find_hipcc({"HIPCC": str(program)})


def test_a_compiler_is_found_and_reports_its_version(compiler: Hipcc, tmp_path: Path) -> None:
    assert compiler.version == 60342131
    assert compiler.command[:2] == ("env", "HIP_PLATFORM=amd")
    (tmp_path / "bin").mkdir()
    (tmp_path / "hipcc").rename(tmp_path / "bin" / "hipcc")
    in_path = find_hipcc({"PATH": str(tmp_path / "bin")})
    of_rocm = find_hipcc({"ROCM_PATH": str(tmp_path), "PATH": ""})
    assert in_path.command[2:] == of_rocm.command[2:] == (str(tmp_path / "bin" / "hipcc"),)


def test_a_missing_or_invalid_compiler_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HipccError, match="hipcc, AMD's compiler, is not installed"):
        find_hipcc({"PATH": str(tmp_path), "ROCM_PATH": str(tmp_path)})
    with pytest.raises(HipccError, match="prints no version"):
        find_hipcc({"HIPCC": "true"})


def test_processors_must_be_supported_by_the_compiler(compiler: Hipcc) -> None:
    assert processors("gfx90a", compiler) == ("gfx90a",)
    assert processors("gfx1030, gfx90a,gfx1030", compiler) == ("gfx1030", "gfx90a")
    assert processors("all", compiler) == ("gfx90a", "gfx1030")
    with pytest.raises(ValueError, match="does not support gfx942: error: invalid target ID"):
        processors("gfx90a,gfx942", compiler)
    with pytest.raises(ValueError, match="'sm_80' in 'sm_80' is not a processor"):
        processors("sm_80", compiler)
