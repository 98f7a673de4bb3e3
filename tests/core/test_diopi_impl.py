"""The CPU vendor's operators as a library in DIOPI's own convention, found by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from diopi_proto.build import compile_library
from dl_kernels import include_dir, write_units

from .processes import RUNS_ONCE, output
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

CSRC = Path(__file__).parents[2] / "packages" / "vendor-cpu" / "csrc"
FAMILIES = ("copy", "exponential", "cumulative", "matmul", "random")
"""Enough to pass tensors, scalars and generators; compiling all families takes minutes."""


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("legacy")
    vendor = StubVendor(folder, legacy=True)
    units = write_units(folder / "units", only=FAMILIES, diopi_convention=True)
    compile_library(
        vendor.library,
        [CSRC / "diopi_impl.cpp", *units],
        exports=("diopi*", "dlop*"),
        legacy=True,
        include_dirs=[CSRC, include_dir()],
        compile_flags=["-O0", "-DDIOPIRT_EXTERN", '-DDL_CPU_VERSION="1"'],
    )
    return vendor.variables()


def test_operators_run_natively(legacy: dict[str, str]) -> None:
    code = """
import torch
torch.dl.fallback("error").__enter__()
x = torch.arange(12.0, device="dl").view(3, 4)
exact = torch.arange(12.0).view(3, 4)
assert torch.allclose(x.t().exp().cpu(), exact.t().exp())
assert torch.equal((x @ x.t()).cpu(), exact @ exact.t())
assert torch.equal(x.cumsum(1).cpu(), exact.cumsum(1))
torch.manual_seed(3)
first = torch.empty(100, device="dl").uniform_().cpu()
torch.manual_seed(3)
assert torch.equal(torch.empty(100, device="dl").uniform_().cpu(), first)
assert len(set(first.tolist())) > 90
print("done")
"""
    assert "done" in output(code, **legacy)


def test_operators_that_it_lacks_run_on_the_cpu(legacy: dict[str, str]) -> None:
    code = """
import torch
x = torch.arange(6.0, device="dl")
assert torch.equal(torch.softmax(x, 0).cpu(), torch.softmax(torch.arange(6.0), 0))
print(*sorted(torch.dl.fallback_stats()))
"""
    assert "softmax" in output(code, **legacy)
