"""Child processes, fake drivers and fake libraries for the tests of this vendor."""

from __future__ import annotations

from pathlib import Path

from driver_tests.processes import FAKES, Processes, compile_driver

SETTINGS = ("DL_ROCM_", "DL_VENDORS", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
# With these options, the fake compiler finds its own headers.
FLAGS = (f'-DFAKE_HIP_FOLDERS="-I{FAKES / "hip"}"',)
PROCESSES = Processes("rocm", SETTINGS, "libamdhip64.so.7", FLAGS)
run, run_on_vendor, doctor = PROCESSES.run, PROCESSES.run_on_vendor, PROCESSES.doctor


def compile_fake(folder: Path, *flags: str) -> str:
    """Build the fake driver for DL_ROCM_DRIVER; fake_hip.cpp has its variables."""
    return str(compile_driver("hip", folder / "libamdhip64.so", *flags))
