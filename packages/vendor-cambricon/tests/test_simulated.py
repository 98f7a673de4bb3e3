"""Tests of operators on fakes of CNRT and CNNL.

They need a wheel with the fakes, which tools/simulated.py builds and names.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from driver_tests.models import (  # noqa: F401 - pytest collects them here
    run_conformance_sample,
    test_a_model_learns_as_on_the_cpu,
    test_results_are_right,
)
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes

pytestmark = with_fakes

RELU = """
x = vendor.tensor(np.array([-1, 2], np.float32))
y = vendor.tensor(np.zeros(2, np.float32))
"""


def test_a_sample_of_the_conformance_cases_passes(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    report = run_conformance_sample(simulated_vendor, 300, tmp_path)
    assert report["counts"]["passed"] > 10
    assert report["vendor"]["status"] == "experimental: never compiled against CNNL's header"


def sdk_with_header(simulated_vendor: SimulatedVendor, folder: Path, text: str) -> SimulatedVendor:
    """Return the vendor on the fake SDK with another header."""
    shutil.copytree(simulated_vendor.variables["NEUWARE_HOME"], folder / "sdk")
    header = folder / "sdk" / "include" / "cnnl.h"
    header.write_text(text or header.read_text(), encoding="utf-8")
    return simulated_vendor.with_variables(NEUWARE_HOME=str(folder / "sdk"))


def test_values_are_not_guessed_without_a_header(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    vendor = sdk_with_header(simulated_vendor, tmp_path, "")
    (tmp_path / "sdk" / "include" / "cnnl.h").unlink()
    code = (
        RELU + 'expect_error(lambda: vendor.op.Relu(y, x), "header was not found", kind=Exception)'
    )
    vendor.run_on_vendor(code)


def test_functions_with_other_arguments_are_not_called(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    header = Path(simulated_vendor.variables["NEUWARE_HOME"]) / "include" / "cnnl.h"
    text = header.read_text(encoding="utf-8")
    changed = text.replace("cnnlActivationForward(", "cnnlActivationForward(int added, ")
    assert changed != text
    vendor = sdk_with_header(simulated_vendor, tmp_path, changed)
    code = RELU + (
        'expect_error(lambda: vendor.op.Relu(y, x), "does not have cnnlActivationForward", '
        "kind=Exception)"
    )
    vendor.run_on_vendor(code)


def test_a_header_with_other_dtypes_is_refused(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    header = Path(simulated_vendor.variables["NEUWARE_HOME"]) / "include" / "cnnl.h"
    text = header.read_text(encoding="utf-8").replace(
        "CNNL_DTYPE_FLOAT = 2", "CNNL_DTYPE_FLOAT = 5"
    )
    vendor = sdk_with_header(simulated_vendor, tmp_path, text)
    code = RELU + 'expect_error(lambda: vendor.op.Relu(y, x), "does not have cnnl", kind=Exception)'
    vendor.run_on_vendor(code)
