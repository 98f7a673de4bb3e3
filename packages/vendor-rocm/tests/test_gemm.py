"""Tests of products by a library: a fake hipBLASLt, which checks every argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import SimulatedVendor
from library_tests import products
from library_tests.products import *  # noqa: F403 - pytest collects them here
from library_tests.products import PRELUDE, ROUNDED, multiply_without_library
from library_tests.vendor import LibraryVendor

from conftest import long

for _slow in (
    products.test_torch_multiplies_with_the_library,
    products.test_tf32_is_used_while_users_allow_it,
    products.test_accumulated_half_precision_products_stay_float32,
    products.test_torch_controls_the_precision_of_products,
    products.test_algorithms_are_queried_once,
    products.test_each_device_and_thread_has_a_handle,
):
    long(_slow)


@pytest.fixture
def multiplying(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> LibraryVendor:
    library = fake_library("hipblaslt")
    return LibraryVendor.of(
        simulated_vendor, "hipblasLt", "hipblasLtMatmul", library, tmp_path / "calls"
    )


@long
def test_a_device_without_tf32_multiplies_in_full_precision(multiplying: LibraryVendor) -> None:
    code = """
    host.tf32_products = True
    a, b = draw(5, 64), draw(64, 3)
    for _ in range(2):
        np.testing.assert_allclose(mm(a, b), a @ b, rtol=1e-5, atol=1e-5)
    """
    exact = multiplying.with_variables(FAKE_HIPBLASLT_TF32="off")
    exact.run_on_vendor(PRELUDE + ROUNDED + code)
    assert multiplying.done == ["32f 3x5x64 batch 1 NN"] * 2
    assert multiplying.calls.count("hipblasLtMatmulAlgoGetHeuristic") == 2


@pytest.mark.parametrize(
    "variables",
    [
        {"DL_ROCM_LIBRARIES": "off"},
        pytest.param({"DL_ROCM_HIPBLASLT": "off"}, marks=long),
        pytest.param({"DL_ROCM_HIPBLASLT": "/nowhere/libhipblaslt.so.1"}, marks=long),
        pytest.param({"FAKE_HIP_VERSION": "50700000"}, marks=long),
        pytest.param({"FAKE_HIPBLASLT_FAIL": "hipblasLtCreate:2"}, marks=long),
        {"FAKE_HIPBLASLT_FAIL": "hipblasLtMatmulAlgoGetHeuristic:7"},
        pytest.param({"FAKE_HIPBLASLT_FAIL": "hipblasLtMatmul:7"}, marks=long),
    ],
)
def test_our_own_kernels_run_unsupported_products(
    multiplying: LibraryVendor, variables: dict[str, str]
) -> None:
    multiply_without_library(multiplying.with_variables(**variables))


@long
def test_the_fake_detects_wrong_arguments(multiplying: LibraryVendor, tmp_path: Path) -> None:
    """A caller with another library's constants is detected."""
    source = tmp_path / "caller.py"
    source.write_text(
        """
import os, cffi
ffi = cffi.FFI()
ffi.cdef('''
int hipblasLtMatmulDescCreate(void**, int, int);
int hipblasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int hipblasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int hipblasLtMatmulPreferenceCreate(void**);
int hipblasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*,
                                    int*);
''')
lt = ffi.dlopen(os.environ["DL_ROCM_HIPBLASLT"])
def made(create, *arguments):
    to = ffi.new("void **")
    assert create(to, *arguments) == 0
    return to[0]
product = made(lt.hipblasLtMatmulDescCreate, int(os.environ["COMPUTE"]), 0)
turned = ffi.new("int *", int(os.environ["TURNED"]))
print(lt.hipblasLtMatmulDescSetAttribute(product, 0, turned, int(os.environ["SIZE"])))
a, b, c = (made(lt.hipblasLtMatrixLayoutCreate, 0, *s) for s in ((2, 3, 2), (3, 4, 3), (2, 4, 2)))
preference = made(lt.hipblasLtMatmulPreferenceCreate)
print(lt.hipblasLtMatmulAlgoGetHeuristic(ffi.NULL, product, a, b, c, c, preference, 1,
                                         ffi.new("char[128]"), ffi.new("int *")))
""",
        encoding="utf-8",
    )
    code = f"import runpy; runpy.run_path({str(source)!r})"

    def run(**variables: str) -> str:
        right = {"COMPUTE": "2", "TURNED": "111", "SIZE": "4"}
        return multiplying.with_variables(**{**right, **variables}).run(code)

    # No workspace was allowed, which is valid.
    assert run() == "0\n7\n"
    assert run(SIZE="8") == "3\n7\n"
    for wrong, words in (
        ({"COMPUTE": "68"}, "an unsupported compute type"),
        ({"TURNED": "1"}, "an unknown matrix operation"),
        ({"TURNED": "112"}, "sizes that do not match"),
    ):
        with pytest.raises(AssertionError, match=words):
            run(**wrong)
