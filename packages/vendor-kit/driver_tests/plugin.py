"""Tests of a vendor's plugin: its descriptor, and that it loads nothing.

The fixtures of a vendor's conftest.py: ``processes``, and ``fake_vendor`` as in errors.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import DEVICE_NAMES, SimulatedVendor

from .processes import Processes


def test_descriptor_is_that_of_an_accelerator(processes: Processes) -> None:
    descriptor = processes.plugin.dl_vendor()
    assert (descriptor.name, descriptor.accelerator) == (processes.vendor, True)
    assert descriptor.priority > 0
    assert descriptor.library.is_absolute() and descriptor.library.is_file()


def test_entry_point_names_the_plugin(processes: Processes) -> None:
    found = {each.value for each in entry_points(group="dl") if each.name == processes.vendor}
    if not found:
        pytest.skip("the wheel is not installed")
    assert found == {processes.plugin.__name__}


def test_readme_examples_run(fake_vendor: SimulatedVendor) -> None:
    processes = fake_vendor.processes
    documents = [processes.folder / "README.md", *sorted(processes.folder.glob("docs/*.md"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in documents)
    use, *others = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert processes.run(use, **fake_vendor.variables).startswith(
        tuple(f"{name} " for name in DEVICE_NAMES)
    )
    for other in others:
        processes.run(other)


def test_changelog_begins_with_this_version(processes: Processes) -> None:
    text = (processes.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == processes.plugin.__version__


def test_a_missing_library_error_names_the_compiler(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = processes.plugin
    monkeypatch.setattr(plugin, "_LIBRARY", plugin._LIBRARY.with_name("gone.so"))
    with pytest.raises(FileNotFoundError, match=r"with [\w+]+ in PATH"):
        plugin.dl_vendor()


def test_a_device_file_or_a_named_driver_counts_as_present(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    presence = processes.presence
    assert processes.driver_variable == presence.DRIVER
    monkeypatch.setattr(presence, "DEVICE_FILES", ("/nowhere/device",))
    assert not presence.present({})
    assert not presence.present({presence.DRIVER: ""})
    assert presence.present({presence.DRIVER: f"/opt/simulator/{processes.driver}"})
    monkeypatch.setattr(presence, "DEVICE_FILES", ("/nowhere/device", "/dev/null"))
    assert presence.present({})


def test_device_files_are_those_of_the_library(processes: Processes) -> None:
    """The list exists twice, because the plugin does not load the library."""
    code = processes.library.read_bytes()
    assert all(name.encode() in code for name in processes.presence.DEVICE_FILES)


def test_importing_the_plugin_imports_neither_torch_nor_arrays(processes: Processes) -> None:
    code = f"""
    import sys
    from {processes.plugin.__name__} import dl_vendor
    dl_vendor().present()
    print(sorted({{"torch", "numpy", "cffi", "dl_core"}} & set(sys.modules)))
    """
    assert processes.run(code) == "[]\n"


def test_the_report_names_the_packages_of_missing_libraries(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("diopi_proto.companions._FOLDERS", ())
    monkeypatch.setattr("diopi_proto.companions._CACHE", tmp_path / "cache")
    optional = import_module(f"dl_vendor_{processes.vendor}.libraries")
    nowhere = replace(optional.FINDER, packages=tmp_path, folders=())
    found = nowhere.states(optional.COMPANIONS, {})
    assert all(f"not installed; {one.install}" in found[one.name] for one in optional.COMPANIONS)
