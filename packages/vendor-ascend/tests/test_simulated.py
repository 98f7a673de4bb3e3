"""Tests of operators on fakes of CANN's runtime and operator library.

They need a wheel with the fakes, which tools/simulated.py builds and names.
"""

from __future__ import annotations

from itertools import groupby
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


PRECISIONS = """
import torch
x = torch.ones(4, 4, device="dl")
image = torch.ones(1, 2, 5, 5, device="dl")
def compute():
    (x @ x).cpu(), torch.nn.functional.conv2d(image, image[:, :, :3, :3]).cpu()
torch.backends.cudnn.allow_tf32 = False
compute()
torch.set_float32_matmul_precision("high")
torch.backends.cudnn.allow_tf32 = True
compute()
"""


def test_products_are_shorter_only_where_the_user_allows_it(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    log = tmp_path / "calls.txt"
    simulated_vendor.with_variables(FAKE_ACLNN_LOG=str(log)).run(PRECISIONS)
    lines = [x for x in log.read_text(encoding="utf-8").splitlines() if "cubeMathType" in x]
    assert [line for line, _ in groupby(lines)] == ["cubeMathType 0", "cubeMathType 1"]


STRIDED_LISTS = """
values = np.arange(12, dtype=np.float32)
x = vendor.tensor(values).as_strided((3, 4), (1, 3))
y = vendor.tensor(np.zeros(12, np.float32)).as_strided((3, 4), (1, 3))
vendor.op.ForeachmulScalar([y], [x], 3.0)
assert (y.numpy() == 3 * values.reshape(4, 3).T).all(), y.numpy()
"""


def test_functions_for_contiguous_lists_get_copies(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    log = tmp_path / "calls.txt"
    simulated_vendor.with_variables(FAKE_ACLNN_LOG=str(log)).run_on_vendor(STRIDED_LISTS)
    calls = log.read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("aclnnForeachMulScalarV2") for line in calls), calls
    assert not any(line.startswith("misuse") for line in calls), calls
