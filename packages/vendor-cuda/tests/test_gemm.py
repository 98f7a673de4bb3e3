"""Tests of products by a library: a fake cuBLASLt, which checks every argument, on a simulator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import SimulatedVendor
from library_tests.products import *  # noqa: F403 - pytest collects them here
from library_tests.products import PRELUDE, ROUNDED, multiply_without_library
from library_tests.vendor import LibraryVendor


@pytest.fixture
def multiplying(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> LibraryVendor:
    library = fake_library("cublaslt")
    return LibraryVendor.of(
        simulated_vendor, "cublasLt", "cublasLtMatmul", library, tmp_path / "calls"
    )


def test_half_precision_results_are_rounded_once(multiplying: LibraryVendor) -> None:
    """cuBLASLt rounds a product before it adds beta · c, and some of its kernels before a bias."""
    code = """
    def add(given, columns):
        a, b = numbers(5, 8, dtype="float16"), numbers(8, columns, dtype="float16")
        out = vendor.empty((5, columns), "float16")
        vendor.op.Addmm(out, *(vendor.tensor(x) for x in (given, a, b)), 1.0, 1.0)
        np.testing.assert_array_equal(out.numpy(), given + a @ b)
    for columns in 8, 3:
        add(numbers(columns, dtype="float16"), columns)
        add(numbers(5, columns, dtype="float16"), columns)
    """
    multiplying.run_on_vendor(PRELUDE + code)
    assert multiplying.done == ["16f 8x5x8 batch 1 NN bias"]


def test_our_own_kernels_round_to_tf32_too(multiplying: LibraryVendor) -> None:
    code = """
    for tf32 in (False, True, False):
        judge(draw(5, 64), draw(64, 3), tf32)
    # Full and partial tiles, parts of a long sum, and operands that are contiguous in either
    # dimension.
    for m, k, n in ((68, 40, 72), (3, 7, 70), (9, 600, 12)):
        for left in (draw(m, k), np.asfortranarray(draw(m, k))):
            for right in (draw(k, n), np.asfortranarray(draw(k, n))):
                judge(left, right, True)
    judge(draw(2, 20, 24), draw(2, 24, 8), True)
    a, b = draw(5, 8), np.ones((8, 4), np.float32)
    a[0, 1], a[1, 2], a[2, 3] = np.nan, np.inf, -np.inf
    host.tf32_products = True
    got = mm(a, b)
    assert np.isnan(got[0]).all() and (got[1] == np.inf).all() and (got[2] == -np.inf).all()
    assert np.isfinite(got[3:]).all()
    """
    multiplying.without_libraries().run_on_vendor(PRELUDE + ROUNDED + code)
    assert multiplying.done == []


@pytest.mark.parametrize(
    "variables",
    [
        {"DL_CUDA_LIBRARIES": "off"},
        {"DL_CUDA_CUBLASLT": "off"},
        {"DL_CUDA_CUBLASLT": "/nowhere/libcublasLt.so.13"},
        {"FAKE_CUBLASLT_FAIL": "cublasLtCreate:3"},
        {"FAKE_CUBLASLT_FAIL": "cublasLtMatmulAlgoGetHeuristic:15"},
        {"FAKE_CUBLASLT_FAIL": "cublasLtMatmul:15"},
    ],
)
def test_our_own_kernels_run_unsupported_products(
    multiplying: LibraryVendor, variables: dict[str, str]
) -> None:
    multiply_without_library(multiplying.with_variables(**variables))
