"""Child processes and fake libraries for the tests of this vendor."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from driver_tests.processes import Processes

PROCESSES = Processes(
    "cuda", ("DL_CUDA_", "DL_GPU_SIM_", "DL_VENDORS", "CUDA_VISIBLE_DEVICES"), "libcuda.so.1"
)
run, run_on_vendor, doctor = PROCESSES.run, PROCESSES.run_on_vendor, PROCESSES.doctor


def nvidia_file(name: str) -> Path:
    """Return a file of NVIDIA's wheels, which are installed or unpacked in DL_TEST_NVIDIA.

    :param name: such as ``"lib/libcudnn.so.9"``; may be a pattern.
    """
    folders = os.environ.get("DL_TEST_NVIDIA", "").split(os.pathsep)
    spec = importlib.util.find_spec("nvidia")
    if spec is not None:
        folders += spec.submodule_search_locations or []
    for folder in filter(None, folders):
        for path in Path(folder).glob(f"*/{name}"):
            return path
    pytest.skip(f"no wheel here has {name}")
