"""Shared tests of the plugin, and tests of its simulated devices and of what the doctor lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests.plugin import *  # noqa: F403 - pytest collects them here

from dl_vendor_cambricon import presence
from dl_vendor_cambricon.libraries import STATUS, libraries
from processes import PROCESSES, doctor


def test_a_wheel_without_fakes_says_how_to_build_one_with_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(presence, "SIMULATED", tmp_path)
    with pytest.raises(RuntimeError, match="DL_CAMBRICON_SIMULATED=1 pip wheel"):
        presence.simulated()
    runtime = tmp_path / "lib64" / "libcnrt.so"
    runtime.parent.mkdir()
    runtime.write_bytes(b"")
    found = presence.simulated()
    assert (found[presence.DRIVER], found["NEUWARE_HOME"]) == (str(runtime), str(tmp_path))
    assert Path(found["FAKE_ENGINE"]).is_file()


# No package installs parts of the SDK; the next test has its list.
del test_the_report_names_the_packages_of_missing_libraries  # noqa: F821


def test_the_parts_of_the_sdk_are_listed(tmp_path: Path) -> None:
    missing = libraries({"NEUWARE_HOME": str(tmp_path)})
    assert "set NEUWARE_HOME" in missing["CNNL"] and "set NEUWARE_HOME" in missing["CNNL's header"]
    for path in (tmp_path / "lib64" / "libcnnl.so", tmp_path / "include" / "cnnl.h"):
        path.parent.mkdir()
        path.touch()
    found = libraries({"NEUWARE_HOME": str(tmp_path)})
    assert found["CNNL"].startswith(str(tmp_path / "lib64" / "libcnnl.so"))
    assert found["CNNL's header"] == str(tmp_path / "include" / "cnnl.h")
    assert "libcnnl.so is not an ELF file" in found["functions of CNNL"]
    assert missing["functions of CNNL"].startswith("unknown: no file of libcnnl.so was found")


def test_everything_says_that_the_vendor_is_experimental(runtime: str) -> None:
    readme = (PROCESSES.folder / "README.md").read_text(encoding="utf-8")
    assert STATUS.partition(": ")[2] in readme
    assert STATUS in doctor(DL_CAMBRICON_DRIVER=runtime)["libraries"]["CNNL"]
