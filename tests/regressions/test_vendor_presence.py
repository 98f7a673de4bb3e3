"""Libraries that report no device, and libraries without a vendor table."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from core.processes import output, run
from core.stub_vendor import StubVendor, table_source

import diopi_proto

LEGACY = Path(__file__).parents[2] / "packages/diopi-proto/tests/fixtures/legacy.c"

# These tests use their own vendor, so that one run is enough.
pytestmark = pytest.mark.vendor("cpu")


def test_the_librarys_own_present_slot_decides(tmp_path: Path) -> None:
    """The descriptor has no `present`: the library is loaded, and its slot decides."""
    variables = StubVendor(tmp_path).compile(table_source(present=0, device_count=1)).variables()
    # Other installed test vendors would have precedence.
    others = {plugin.name for plugin in entry_points(group="dl")} - {"stub", "cpu"}
    variables |= {"DL_VENDORS": "", "DL_DISABLE": ",".join(sorted(others))}
    code = "import torch; print(hasattr(torch, 'dl'))"
    assert output(code, **variables) == "False"
    doctor = "import sys; from dl_core.cli import main; sys.exit(main(['doctor']))"
    said = run(doctor, **variables).stdout
    assert "stub has no device." in said and "  no device: no driver was found" in said


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    vendor = StubVendor(tmp_path_factory.mktemp("legacy"), legacy=True)
    command = [
        *(os.environ.get("CC") or "gcc").split(),
        *("-shared", "-fPIC", "-O1", "-DFIXTURE_NUMBER=3", "-DFIXTURE_WEAK=0"),
        *(f"-I{diopi_proto.include_dir()}", str(LEGACY), "-o", str(vendor.library)),
    ]
    subprocess.run(command, check=True)
    return vendor.variables()


def test_a_legacy_library_has_a_name_under_torch(legacy: dict[str, str]) -> None:
    output(
        """
import torch
properties = torch.dl.get_device_properties(0)
assert torch.dl.get_device_name() == properties.name == "legacy3", properties
""",
        **legacy,
    )


def test_a_legacy_library_has_events_of_the_host(legacy: dict[str, str]) -> None:
    output(
        """
import torch
x = torch.tensor([2.0] * 3).to("dl")
start, end = (torch.Event("dl", enable_timing=True) for _ in range(2))
start.record()
y = x + x
end.record()
torch.accelerator.current_stream().wait_stream(torch.Stream("dl"))
end.synchronize()
assert start.elapsed_time(end) >= 0 and y.tolist() == [4] * 3
""",
        **legacy,
    )
