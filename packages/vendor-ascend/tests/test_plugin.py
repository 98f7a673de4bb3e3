"""Shared tests of the plugin, and a test of its simulated devices."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from driver_tests.plugin import *  # noqa: F403 - pytest collects them here

from dl_vendor_ascend import presence
from dl_vendor_ascend.libraries import libraries


def test_a_wheel_without_fakes_says_how_to_build_one_with_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(presence, "SIMULATED", tmp_path)
    with pytest.raises(RuntimeError, match="DL_ASCEND_SIMULATED=1 pip wheel"):
        presence.simulated()
    runtime = tmp_path / "lib64" / "libascendcl.so"
    runtime.parent.mkdir()
    runtime.write_bytes(b"")
    found = presence.simulated()
    assert (found[presence.DRIVER], found["ASCEND_HOME_PATH"]) == (str(runtime), str(tmp_path))
    assert Path(found["FAKE_ENGINE"]).is_file()


def test_functions_that_the_operator_library_lacks_are_reported(tmp_path: Path) -> None:
    environ = {"ASCEND_HOME_PATH": str(tmp_path)}
    said = libraries(environ)["functions of aclnn"]
    assert said.startswith("unknown: no file of libopapi.so, libopapi_*.so, libnnopbase.so")
    folder, source = tmp_path / "lib64", tmp_path / "operators.c"
    folder.mkdir()
    names = ("aclnnAddGetWorkspaceSize", "aclnnAdd")
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in names))
    subprocess.run(["gcc", "-shared", source, "-o", folder / "libopapi.so"], check=True)
    said = libraries(environ)["functions of aclnn"]
    assert f"are missing in {folder}/libopapi.so, which disables cases of these operators" in said
    assert "aclnnAdd (" not in said and "aclnnAbs (diopiAbs" in said
