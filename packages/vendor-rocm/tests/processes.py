"""Child processes, fake drivers and fake libraries for the tests of this vendor."""

from __future__ import annotations

import sys
from pathlib import Path

from dl_vendor_rocm.plugin import dl_vendor

KIT = Path(__file__).parents[2] / "vendor-kit"
SOURCES = Path(__file__).parents[1]
sys.path.insert(0, str(KIT))

from driver_tests import processes  # noqa: E402 - found through sys.path

SETTINGS = ("DL_ROCM_", "DL_VENDORS", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_PROCESSES = processes.Processes("rocm", SETTINGS)
run, run_on_vendor, doctor = _PROCESSES.run, _PROCESSES.run_on_vendor, _PROCESSES.doctor


def compile_fake(folder: Path, *flags: str) -> Path:
    """Build the fake driver as a library for DL_ROCM_DRIVER; fake_hip.cpp has its variables."""
    return processes.compile_driver("hip", folder / "libamdhip64.so", *flags)


def compile_library(name: str, folder: Path) -> Path:
    """Build a fake library of ``fakes/``, such as ``"hipblaslt"``."""
    source = Path(__file__).parent / "fakes" / f"{name}.cpp"
    # With these options, the fake compiler finds its own headers.
    flag = f'-DFAKE_HIP_FOLDERS="-I{processes.FAKES / "hip"}"'
    return processes.compile_library(source, SOURCES / "csrc", folder, flag)


def library() -> Path:
    """Return the path of the library under test."""
    return dl_vendor().library
