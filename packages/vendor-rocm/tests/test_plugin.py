"""Shared tests of the plugin, and a test of its simulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests.plugin import *  # noqa: F403 - pytest collects them here

from dl_vendor_rocm import presence


def test_a_wheel_for_gpus_says_how_to_build_one_for_simulated_devices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = tmp_path / "libamdhip64.so"
    monkeypatch.setattr(presence, "SIMULATOR", driver)
    with pytest.raises(RuntimeError, match="DL_ROCM_ARCH=emulated pip wheel"):
        presence.simulated()
    driver.write_bytes(b"")
    assert presence.simulated() == {presence.DRIVER: str(driver)}
