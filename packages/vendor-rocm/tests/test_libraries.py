"""Tests of `dl doctor`'s report of optional libraries."""

from __future__ import annotations

import re
from pathlib import Path

from driver_tests.processes import KIT

from dl_vendor_rocm.libraries import COMPANIONS, FINDER, libraries
from processes import PROCESSES, doctor


def test_the_doctor_reports_locations_or_packages(fake: str, tmp_path: Path) -> None:
    miopen = tmp_path / "libMIOpen.so.1"
    miopen.touch()
    found = doctor(DL_ROCM_DRIVER=fake, DL_ROCM_MIOPEN=str(miopen))["libraries"]
    assert found["MIOpen"] == str(miopen)
    assert "unless DL_ROCM_HIPBLASLT names one" in found["hipBLASLt"]


def test_libraries_are_found_as_the_loader_finds_them(tmp_path: Path) -> None:
    for name in ("libhipblaslt.so.0", "libMIOpen.so.1"):
        (tmp_path / name).touch()
    found = libraries({"LD_LIBRARY_PATH": f":{tmp_path}"})
    assert found["hipBLASLt"] == f"{tmp_path}/libhipblaslt.so.0"
    assert found["MIOpen"] == f"{tmp_path}/libMIOpen.so.1"
    off = libraries({"LD_LIBRARY_PATH": str(tmp_path), "DL_ROCM_LIBRARIES": "off"})
    assert off["hipBLASLt"] == off["MIOpen"] == "off (DL_ROCM_LIBRARIES)"
    assert libraries({"DL_ROCM_MIOPEN": "libMIOpen.so"})["MIOpen"] == "no libMIOpen.so"
    assert libraries({"DL_ROCM_MIOPEN": "off"})["MIOpen"] == "off (DL_ROCM_MIOPEN)"


def test_the_library_searches_the_same_paths() -> None:
    text = (PROCESSES.folder / "csrc" / "library" / "companions.cpp").read_text(encoding="utf-8")
    text += (KIT / "include" / "dl" / "kit" / "hiprtc.h").read_text(encoding="utf-8")
    for one in COMPANIONS:
        (others,) = re.findall(rf'"{one.variable}",\s*{{}},\s*{{([^}}]*)}}', text)
        paths = [f"{folder}/{name}" for folder in FINDER.folders for name in one.names]
        assert re.findall(r'"([^"]*)"', others) == [*one.names, *paths]
        assert f'"{one.install}"' in text
