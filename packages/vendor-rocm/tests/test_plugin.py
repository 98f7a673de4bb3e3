"""Tests of the plugin: its descriptor, and that it loads nothing."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from dl_vendor_rocm import plugin, presence
from processes import run


def test_descriptor_is_that_of_an_accelerator() -> None:
    descriptor = plugin.dl_vendor()
    assert (descriptor.name, descriptor.accelerator) == ("rocm", True)
    assert descriptor.priority > 0
    assert descriptor.library.is_absolute() and descriptor.library.is_file()


def test_entry_point_names_the_plugin() -> None:
    found = {e.value for e in entry_points(group="dl") if e.name == "rocm"}
    assert found == {"dl_vendor_rocm.plugin"}


def test_readme_example_runs(fake: str) -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (use,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert run(use, DL_ROCM_DRIVER=fake).startswith("Fake 0 ")


def test_changelog_begins_with_this_version() -> None:
    text = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == plugin.__version__


def test_a_missing_library_error_says_how_to_build_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "_LIBRARY", plugin._LIBRARY.with_name("gone.so"))
    with pytest.raises(FileNotFoundError, match="hipcc in PATH"):
        plugin.dl_vendor()


def test_a_device_file_or_a_named_driver_counts_as_present(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "DEVICE_FILES", ("/nowhere/kfd",))
    assert not presence.present({})
    assert not presence.present({presence.DRIVER: ""})
    assert presence.present({presence.DRIVER: "/opt/simulator/libamdhip64.so"})
    monkeypatch.setattr(presence, "DEVICE_FILES", ("/nowhere/kfd", "/dev/null"))
    assert presence.present({})


def test_device_files_are_those_of_the_library() -> None:
    """The list exists twice, because the plugin does not load the library."""
    code = plugin._LIBRARY.read_bytes()
    assert all(name.encode() in code for name in presence.DEVICE_FILES)


def test_a_wheel_for_gpus_says_how_to_build_one_for_simulated_devices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = tmp_path / "libamdhip64.so"
    monkeypatch.setattr(presence, "SIMULATOR", driver)
    with pytest.raises(RuntimeError, match="DL_ROCM_ARCH=emulated pip wheel"):
        presence.simulated()
    driver.write_bytes(b"")
    assert presence.simulated() == {presence.DRIVER: str(driver)}


def test_importing_the_plugin_imports_neither_torch_nor_arrays() -> None:
    output = run(
        """
        import sys
        from dl_vendor_rocm.plugin import dl_vendor
        dl_vendor().present()
        print(sorted({"torch", "numpy", "cffi", "dl_core"} & set(sys.modules)))
        """
    )
    assert output == "[]\n"
