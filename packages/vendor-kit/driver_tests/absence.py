"""Tests without a driver or a device: torch is silent until a program asks for a device, and
`dl doctor` gives reasons."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from .processes import Processes


@pytest.fixture
def without_gpu(processes: Processes) -> Processes:
    """Skip if this machine has a GPU of the vendor."""
    if any(map(Path.exists, map(Path, processes.presence.DEVICE_FILES))):
        pytest.skip(f"this machine has a GPU of {processes.vendor}")
    return processes


def test_importing_torch_is_silent_and_loads_nothing(without_gpu: Processes) -> None:
    vendor, driver = without_gpu.vendor, without_gpu.driver.partition(".")[0]
    code = f"""
    import sys
    # The repository's test vendors are on this path, and they have devices.
    sys.path[:] = [path for path in sys.path if "test-plugins" not in path]
    import torch
    maps = open("/proc/self/maps").read()
    assert "libdl_vendor_{vendor}" not in maps and "{driver}" not in maps, "a library was loaded"
    assert not (hasattr(torch, "dl") and torch.dl.is_available())
    """
    assert without_gpu.run(code) == ""
    asks = """
    import threading
    thread = threading.Thread(target=lambda: torch.empty(1, device="dl"))
    thread.start(), thread.join()
    """
    output = without_gpu.run(textwrap.dedent(code) + textwrap.dedent(asks))
    assert output.count("dl-core: no dl device is available") == 1
    assert f"{vendor} is installed but reports no device" in output and "dl doctor" in output


def test_selected_alone_it_has_no_device(without_gpu: Processes) -> None:
    output = without_gpu.run_on_vendor("print(vendor.present, vendor.device_count)")
    assert output == "False 0\n"


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("", "is not an absolute path; set one, or unset the variable"),
        ("build/", "is not an absolute path; set one, or unset the variable"),
        ("/nowhere/", "does not exist; set another driver, or unset the variable"),
    ],
)
def test_an_invalid_driver_path_is_reported(processes: Processes, folder: str, reason: str) -> None:
    driver = folder + processes.driver
    variables = {processes.driver_variable: driver}
    found = processes.doctor(**variables)
    assert found["device_count"] == 0
    message = found["no_device"]
    assert processes.driver_variable in message and repr(driver) in message and reason in message
    assert processes.run("import torch", **variables).count(message) == 1


def test_a_driver_in_a_folder_of_other_users_is_not_loaded(
    processes: Processes, tmp_path: Path
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    driver = folder / processes.driver
    driver.write_bytes(b"")
    found = processes.doctor(**{processes.driver_variable: str(driver)})
    assert "other users could have put it there" in found["no_device"]


def test_a_file_that_is_not_a_library_is_named(processes: Processes, tmp_path: Path) -> None:
    driver = tmp_path / processes.driver
    driver.write_text("not a library", encoding="utf-8")
    found = processes.doctor(**{processes.driver_variable: str(driver)})
    assert found["device_count"] == 0
    assert "driver can be opened" in found["no_device"] and str(driver) in found["no_device"]
