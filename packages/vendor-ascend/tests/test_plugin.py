"""Shared tests of the plugin, and a test of its simulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests.plugin import *  # noqa: F403 - pytest collects them here

from dl_vendor_ascend import presence


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
