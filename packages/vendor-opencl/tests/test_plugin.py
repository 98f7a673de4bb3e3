"""Tests of the plugin: its descriptor, its detection of drivers, and that it loads nothing."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from dl_vendor_opencl import plugin, presence
from processes import Vendor, run

PACKAGE = Path(__file__).parents[1]
REQUESTED = {"DL_VENDORS": "opencl"}


def test_descriptor_is_that_of_an_accelerator() -> None:
    descriptor = plugin.dl_vendor()
    assert (descriptor.name, descriptor.accelerator) == ("opencl", True)
    assert descriptor.priority > 0
    assert descriptor.library.is_absolute() and descriptor.library.is_file()


def test_entry_point_names_the_plugin() -> None:
    found = {e.value for e in entry_points(group="dl") if e.name == "opencl"}
    assert found == {"dl_vendor_opencl.plugin"}


def test_readme_example_runs(vendor: Vendor) -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    (use,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert "[-1.  -0.6 -0.2  0.2  0.6  1. ]" not in vendor.run(use)
    assert "[0.  0.  0.  0.2 0.6 1. ]" in vendor.run(use)


def test_changelog_begins_with_this_version() -> None:
    text = (PACKAGE / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == plugin.__version__


def test_a_missing_library_error_says_how_to_build_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "_LIBRARY", plugin._LIBRARY.with_name("gone.so"))
    with pytest.raises(FileNotFoundError, match="clang-15 and llvm-spirv-15 in PATH"):
        plugin.dl_vendor()


@pytest.fixture
def empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Pretend that nothing is installed; return the folder with the names of drivers."""
    monkeypatch.setattr(presence, "REGISTRY", str(tmp_path))
    monkeypatch.setattr(presence, "GPU_FILES", ("/nowhere/dri",))
    monkeypatch.setattr(presence, "INTEL_WHEEL", tmp_path / "libintelocl.so")
    return tmp_path


def test_without_any_driver_nothing_is_present(empty_machine: Path) -> None:
    assert not presence.present({})
    assert not presence.present(REQUESTED)
    assert not presence.present({**REQUESTED, "OCL_ICD_VENDORS": "/nowhere"})


def test_a_named_driver_counts_as_present(empty_machine: Path) -> None:
    assert presence.present({presence.DRIVER: "/opt/intel/lib/libintelocl.so"})


def test_a_runtime_for_cpus_takes_part_only_if_it_is_requested(empty_machine: Path) -> None:
    (empty_machine / "pocl.icd").write_text("libpocl.so.2\n", encoding="utf-8")
    assert not presence.present({})
    assert not presence.present({"DL_VENDORS": "cpu"})
    assert presence.present({"DL_VENDORS": "opencl, cpu"})


def test_with_a_gpu_the_installed_drivers_count(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "GPU_FILES", ("/nowhere/dri", "/dev/null"))
    assert not presence.present({})
    (empty_machine / "intel.icd").write_text("libigdrcl.so\n", encoding="utf-8")
    assert presence.present({})


def test_intels_wheel_counts_without_a_registered_driver(empty_machine: Path) -> None:
    presence.INTEL_WHEEL.write_bytes(b"")
    assert presence.present(REQUESTED)


@pytest.mark.parametrize("name", ["OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"])
def test_the_variables_of_the_loader_name_drivers(empty_machine: Path, name: str) -> None:
    assert presence.present({**REQUESTED, name: "/opt/drivers/libx.so"})


def test_folder_of_driver_names_is_that_of_the_library() -> None:
    """The name exists twice, because the plugin does not load the library."""
    source = (PACKAGE / "csrc" / "runtime" / "driver.cpp").read_text(encoding="utf-8")
    assert f'"{presence.REGISTRY}"' in source


def test_importing_the_plugin_imports_neither_torch_nor_arrays() -> None:
    output = run(
        """
        import sys
        from dl_vendor_opencl.plugin import dl_vendor
        dl_vendor().present()
        print(sorted({"torch", "numpy", "cffi", "dl_core"} & set(sys.modules)))
        """
    )
    assert output == "[]\n"
