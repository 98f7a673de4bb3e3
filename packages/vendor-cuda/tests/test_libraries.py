"""Tests of `dl doctor`'s report of optional libraries."""

from __future__ import annotations

import re
from pathlib import Path

from driver_tests.processes import KIT

from dl_vendor_cuda.libraries import COMPANIONS, libraries
from processes import PROCESSES, doctor


def test_the_doctor_reports_locations_or_packages(simulator: str, tmp_path: Path) -> None:
    nccl = tmp_path / "libnccl.so.2"
    nccl.touch()
    variables = {"DL_CUDA_NCCL": str(nccl), "DL_CUDA_NVRTC": "off"}
    found = doctor(DL_CUDA_DRIVER=simulator, **variables)["libraries"]
    assert found["NCCL"] == str(nccl)
    assert found["NVRTC"] == "off (DL_CUDA_NVRTC)"
    assert "unless DL_CUDA_CUBLASLT names one" in found["cuBLASLt"]


def test_libraries_are_found_as_the_loader_finds_them(tmp_path: Path) -> None:
    (tmp_path / "libcublasLt.so.13").touch()
    found = libraries({"LD_LIBRARY_PATH": f":{tmp_path}"})
    assert found["cuBLASLt"] == f"{tmp_path}/libcublasLt.so.13"
    off = libraries({"LD_LIBRARY_PATH": str(tmp_path), "DL_CUDA_LIBRARIES": "off"})
    assert off["cuBLASLt"] == off["cuDNN"] == "off (DL_CUDA_LIBRARIES)"
    assert libraries({"DL_CUDA_NCCL": "libnccl.so"})["NCCL"] == "no libnccl.so"


def test_the_library_searches_the_same_paths() -> None:
    text = (PROCESSES.folder / "csrc" / "extensions" / "companions.cpp").read_text(encoding="utf-8")
    text += (KIT / "include" / "dl" / "kit" / "nvrtc.h").read_text(encoding="utf-8")
    for one in COMPANIONS:
        ((variable, beside),) = re.findall(rf'{{\s*"({one.variable})",\s*{{([^}}]*)}}', text)
        assert (variable, tuple(re.findall(r'"([^"]*)"', beside))) == (one.variable, one.names)
        assert one.install in text
