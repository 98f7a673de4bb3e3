"""The reference vendor passes a sample of the suite without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from diopi_proto import Vendor, load_vendor
from diopi_proto.host.devices import DeviceProperties
from dl_conformance.commit_seed import commit_seed
from dl_conformance.target import of_vendor
from dl_conformance.worker import describe_device

SEED = commit_seed(Path(__file__).parent)
WITHOUT_TORCH = """
import sys
from dl_conformance import catalog, execution
from dl_conformance.target import of_library
with of_library(sys.argv[1]).load() as vendor:
    case = catalog.case_named("diopiExp[float32-5]")
    assert execution.run(vendor, case).status == "passed"
assert "torch" not in sys.modules
"""


def test_a_tenth_of_the_cases_passes(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = (
        "--vendor",
        "cpu",
        "--sample",
        f"10/{SEED}",
        "--json",
        str(report),
    )
    command = [sys.executable, "-m", "dl_conformance", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, " ".join(command) + done.stdout + done.stderr
    counts = json.loads(report.read_text())["counts"]
    assert counts["failed"] == 0
    assert counts["passed"] > 1200


def test_reports_name_the_device(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ("--vendor", "cpu", "--case", "diopiExp[float32-5]", "--json", str(report))
    command = [sys.executable, "-m", "dl_conformance", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    with load_vendor(of_vendor("cpu")[0].library) as vendor:
        found = vendor.properties(0)
    name = f"{found.name} ({found.architecture})" if found.architecture else found.name
    assert json.loads(report.read_text())["vendor"]["device"] == name
    assert done.stdout.splitlines()[-2] == f"device: {name}"


def test_a_device_without_properties_is_not_named() -> None:
    def unknown(device: int) -> DeviceProperties:
        raise RuntimeError("device_properties declined")

    assert describe_device(cast(Vendor, SimpleNamespace(properties=unknown))) == ""


def test_suite_needs_no_torch() -> None:
    library = of_vendor("cpu")[0].library
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, library], check=True)
