"""Tests of operators on fakes of CANN's runtime and operator library.

They need a wheel with the fakes, which tools/simulated.py builds and names.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from driver_tests.models import (  # noqa: F401 - pytest collects them here
    run_conformance_sample,
    test_a_model_learns_as_on_the_cpu,
    test_results_are_right,
)
from extension_tests.simulated_vendor import SimulatedVendor

from processes import run

GIVEN = "DL_TEST_ASCEND_SIMULATED"
pytestmark = pytest.mark.skipif(
    not os.environ.get(GIVEN), reason="slow: packages/vendor-ascend/tools/simulated.py runs it"
)


@pytest.fixture
def simulated_vendor(fake_vendor: SimulatedVendor) -> SimulatedVendor:
    """Return this vendor on the fakes of the wheel."""
    path = os.pathsep.join(filter(None, [os.environ[GIVEN], os.environ.get("PYTHONPATH")]))
    code = """
    import json
    from dl_vendor_ascend.presence import simulated
    print(json.dumps(simulated()))
    """
    return fake_vendor.with_variables(PYTHONPATH=path, **json.loads(run(code, PYTHONPATH=path)))


def test_a_sample_of_the_conformance_cases_passes(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    report = run_conformance_sample(simulated_vendor, 300, tmp_path)
    assert report["counts"]["passed"] > 10
