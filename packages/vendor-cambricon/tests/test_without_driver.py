"""Tests without the SDK or an MLU: `import torch` warns once, and `dl doctor` lists the
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
  dl::cambricon::Installation found;
  found.device_file = "/dev/cambricon_ctl";
  const std::string nothing = why_absent(found);
  CHECK(has(nothing, "there is no Cambricon MLU") && has(nothing, "--device=/dev/cambricon_ctl"));
  CHECK(has(nothing, "; and Cambricon's runtime, libcnrt.so, is not installed: install the"));

  found.has_device = true;
  found.root = "/opt/neuware";
  const std::string closed = why_absent(found);
  CHECK(has(closed, "may not open /dev/cambricon_ctl"));
  CHECK(has(closed, "run `export NEUWARE_HOME=/opt/neuware` before Python starts"));

  found.may_open_device = found.has_library = true;
  CHECK(why_absent(found).empty());
}
"""


def test_each_missing_part_is_explained(processes: Processes, tmp_path: Path) -> None:
    processes.run_checks(CHECKS, tmp_path)


def test_doctor_reports_what_is_missing(without_gpu: Processes) -> None:
    found = without_gpu.doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no Cambricon MLU" in found["no_device"]
