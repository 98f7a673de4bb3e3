"""Tests without NVIDIA's driver: `import torch` warns once, and `dl doctor` lists the reasons."""

from __future__ import annotations

from driver_tests.absence import *  # noqa: F403 - pytest collects them here

from processes import Processes


def test_doctor_reports_what_is_missing(without_gpu: Processes) -> None:
    found = without_gpu.doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no NVIDIA GPU" in found["no_device"]
    assert "libcuda.so.1 is not installed: install NVIDIA's driver" in found["no_device"]
