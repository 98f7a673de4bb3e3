"""Simulated drivers are detected by the variables that select them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from diopi_proto.descriptor import VendorDescriptor
from dl_core.simulation import is_marked, is_simulated, mark_simulated


def vendor(variables: Mapping[str, str] | None, error: str = "") -> VendorDescriptor:
    def simulated() -> Mapping[str, str]:
        if error:
            raise RuntimeError(error)
        return variables or {}

    return VendorDescriptor(
        name="gpu", library=Path("/lib.so"), version="1", simulated=simulated if variables else None
    )


def test_the_variables_of_the_simulator_select_it(tmp_path: Path) -> None:
    driver = tmp_path / "driver.so"
    driver.touch()
    link = tmp_path / "link.so"
    link.symlink_to(driver)
    made = vendor({"DRIVER": str(driver), "KIND": "sim"})
    assert is_simulated(made, {"DRIVER": str(driver), "KIND": "sim", "OTHER": "1"})
    assert is_simulated(made, {"DRIVER": str(link), "KIND": "sim"})


@pytest.mark.parametrize(
    "environ",
    [{}, {"DRIVER": ""}, {"DRIVER": "/usr/lib/libcuda.so"}, {"KIND": "sim"}],
)
def test_another_driver_is_real(environ: dict[str, str]) -> None:
    assert not is_simulated(vendor({"DRIVER": "/sim.so", "KIND": "sim"}), environ)
    assert not is_simulated(vendor(None), environ)


def test_a_vendor_whose_simulator_is_not_installed_is_real() -> None:
    assert not is_simulated(vendor({"DRIVER": "/sim.so"}, "pip install sim"), {"DRIVER": "/sim.so"})


def test_identities_of_simulated_devices_are_marked() -> None:
    assert mark_simulated("H100") == "H100 (simulated)"
    assert is_marked(mark_simulated("H100"))
    assert not is_marked("H100")
