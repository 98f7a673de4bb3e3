"""Child processes, fake drivers and fake libraries for the tests of this vendor."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

KIT = Path(__file__).parents[2] / "vendor-kit"
SOURCES = Path(__file__).parents[1]
sys.path.insert(0, str(KIT))

from driver_tests import processes  # noqa: E402 - found through sys.path

SETTINGS = ("DL_CUDA_", "DL_GPU_SIM_", "DL_VENDORS", "CUDA_VISIBLE_DEVICES")
_PROCESSES = processes.Processes("cuda", SETTINGS)
run, run_on_vendor, doctor = _PROCESSES.run, _PROCESSES.run_on_vendor, _PROCESSES.doctor


def compile_fake(folder: Path, *flags: str) -> Path:
    """Build the fake driver as a library for DL_CUDA_DRIVER."""
    return processes.compile_driver("cuda", folder / "libcuda.so.1", *flags)


def compile_library(name: str, folder: Path) -> Path:
    """Build a fake library of ``fakes/``, such as ``"nccl"``."""
    source = Path(__file__).parent / "fakes" / f"{name}.cpp"
    return processes.compile_library(source, SOURCES / "csrc", folder)


def nvidia_library(name: str) -> str:
    """Return the path of a library in a wheel, installed or unpacked in DL_TEST_NVIDIA."""
    folders = os.environ.get("DL_TEST_NVIDIA", "").split(os.pathsep)
    spec = importlib.util.find_spec("nvidia")
    if spec is not None:
        folders += spec.submodule_search_locations or []
    for folder in filter(None, folders):
        for path in Path(folder).glob(f"*/lib/{name}"):
            return str(path)
    pytest.skip(f"no wheel here has {name}")
