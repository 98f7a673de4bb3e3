"""Tests without CANN or an NPU: `import torch` warns once, and `dl doctor` lists the
reasons."""

from __future__ import annotations

from pathlib import Path

from driver_tests.absence import *  # noqa: F403 - pytest collects them here

from processes import Processes

CHECKS = """
#include "runtime/installation.h"

#include "check.h"

namespace {
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
}  // namespace

MAIN {
  dl::ascend::Installation found;
  found.device_file = "/dev/davinci_manager";
  const std::string nothing = why_absent(found);
  CHECK(has(nothing, "there is no Ascend NPU") && has(nothing, "--device=/dev/davinci_manager"));
  CHECK(has(nothing, "; and CANN's runtime, libascendcl.so, is not installed: install CANN 8.1"));

  found.script = "/usr/local/Ascend/cann/set_env.sh";
  found.has_device = true;
  const std::string closed = why_absent(found);
  CHECK(has(closed, "may not open /dev/davinci_manager") && has(closed, "HwHiAiUser"));
  CHECK(has(closed, "the loader does not find its runtime"));
  CHECK(has(closed, "run `source /usr/local/Ascend/cann/set_env.sh` before Python starts"));

  found.may_open_device = found.has_library = true;
  CHECK(has(why_absent(found), "ASCEND_OPP_PATH is not set"));
  found.has_operators = true;
  CHECK(why_absent(found).empty());
}
"""


def test_each_missing_part_is_explained(processes: Processes, tmp_path: Path) -> None:
    processes.run_checks(CHECKS, tmp_path)


def test_doctor_reports_what_is_missing(without_gpu: Processes) -> None:
    found = without_gpu.doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no Ascend NPU" in found["no_device"]


def test_doctor_finds_an_installation_whose_set_env_was_not_run(
    without_gpu: Processes, tmp_path: Path
) -> None:
    script = tmp_path / "Ascend" / "ascend-toolkit" / "set_env.sh"
    script.parent.mkdir(parents=True)
    script.touch()
    found = without_gpu.doctor(HOME=str(tmp_path), LD_LIBRARY_PATH="")
    if "/usr/local/Ascend" not in found["no_device"]:
        assert f"run `source {script}` before Python starts" in found["no_device"]
