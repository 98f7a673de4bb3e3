"""Kernels of graph compilers: compiled by the vendor, run on addresses of tensors."""

from __future__ import annotations

import pytest
import torch

from dl_core import _C

pytestmark = pytest.mark.vendor("cpu")

TEXT = """
#include "dl_cpu_kernel.h"

DL_CPU_KERNEL(scale) {  // (float* data, const float* factor), 16 elements by each block
  float* data = dl_cpu_argument<float*>(arguments, 0) + 16 * block->index[0];
  const float factor = *dl_cpu_argument<const float*>(arguments, 1);
  for (int i = 0; i < 16; ++i) data[i] *= factor;
}
"""


@pytest.fixture(scope="module")
def code() -> bytes:
    return _C.compile_kernels(0, "c++", "scale.cpp", TEXT, ["-O1"], 60.0)


def test_launches_get_their_addresses_in_order(code: bytes) -> None:
    data, factor = torch.ones(64, device="dl"), torch.full((1,), 3.0, device="dl")
    program = _C.KernelProgram(0, code, [("scale", 4, 1, [1, 0]), ("scale", 2, 1, [1, 0])], 2)
    program.run([factor.data_ptr(), data.data_ptr()])
    assert data.cpu().tolist() == [9.0] * 32 + [3.0] * 32


def test_the_vendor_says_what_it_compiles() -> None:
    languages, unavailable = _C.kernel_languages(0)
    assert languages == "c++" and unavailable == ""


def test_text_that_does_not_compile_is_shown() -> None:
    with pytest.raises(RuntimeError, match=r"wrong\.cpp does not compile"):
        _C.compile_kernels(0, "c++", "wrong.cpp", "int f() { return undeclared; }", [], 60.0)


def test_what_is_wrong_is_refused(code: bytes) -> None:
    for launches, words in (
        ([("scale", 0, 1, [0, 1])], "kernel scale has 0 blocks of 1 threads"),
        ([("scale", 1, 0, [0, 1])], "kernel scale has 1 blocks of 0 threads"),
        (
            [("scale", 1, 1, [0, 2])],
            "kernel scale uses address 2, but the program has only 2 addresses",
        ),
        ([("scaled", 1, 1, [0, 1])], "scaled"),
    ):
        with pytest.raises(RuntimeError, match=words):
            _C.KernelProgram(0, code, launches, 2)
    with pytest.raises(RuntimeError, match=r"kernel\.load"):
        _C.KernelProgram(0, b"no code", [], 0)
    program = _C.KernelProgram(0, code, [("scale", 1, 1, [0, 1])], 2)
    with pytest.raises(RuntimeError, match="kernels take 2 addresses, not 1"):
        program.run([0])


def test_a_function_without_its_argument_is_an_error(code: bytes) -> None:
    program = _C.KernelProgram(0, code, [("scale", 1, 1, [0])], 1)
    with pytest.raises(
        RuntimeError, match="threw: argument 1 is missing: the launch did not pass it"
    ):
        program.run([torch.ones(16, device="dl").data_ptr()])
