"""Tests of `dl doctor`'s report of optional libraries."""

from __future__ import annotations

import re
from pathlib import Path

from dl_vendor_ascend.libraries import COMPANIONS, libraries
from processes import PROCESSES, doctor


def test_the_doctor_reports_locations_or_packages(runtime: str, tmp_path: Path) -> None:
    mspti = tmp_path / "libmspti.so"
    mspti.touch()
    found = doctor(DL_ASCEND_DRIVER=runtime, DL_ASCEND_MSPTI=str(mspti))["libraries"]
    assert found["MSPTI"] == str(mspti)
    found = doctor(DL_ASCEND_DRIVER=runtime)["libraries"]
    assert "unless DL_ASCEND_MSPTI names one" in found["MSPTI"]


def test_libraries_are_found_as_the_loader_finds_them(tmp_path: Path) -> None:
    (tmp_path / "libmspti.so").touch()
    found = libraries({"LD_LIBRARY_PATH": f":{tmp_path}"})
    assert found["MSPTI"] == f"{tmp_path}/libmspti.so"
    assert libraries({"DL_ASCEND_MSPTI": "off"})["MSPTI"] == "off (DL_ASCEND_MSPTI)"


def test_the_library_searches_the_same_names() -> None:
    text = (PROCESSES.folder / "csrc" / "extensions" / "companions.cpp").read_text(encoding="utf-8")
    for one in COMPANIONS:
        (names,) = re.findall(rf'"{one.variable}",\s*{{}},\s*{{([^}}]*)}}', text)
        assert tuple(re.findall(r'"([^"]*)"', names)) == one.names
        assert f'"{one.install}"' in text
