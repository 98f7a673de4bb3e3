"""Tests of operators on fakes of CANN's runtime and operator library.

They need a wheel with the fakes, which tools/simulated.py builds and names.
"""

from __future__ import annotations

from pathlib import Path

from driver_tests.models import (  # noqa: F401 - pytest collects them here
    run_conformance_sample,
    test_a_model_learns_as_on_the_cpu,
    test_results_are_right,
)
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes

pytestmark = with_fakes


def test_a_sample_of_the_conformance_cases_passes(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    report = run_conformance_sample(simulated_vendor, 300, tmp_path)
    assert report["counts"]["passed"] > 10
