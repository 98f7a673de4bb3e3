"""Tests of kernels from Ascend C, on a fake of CANN's compiler."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from extension_tests.simulated_vendor import SimulatedVendor

SCALE = '''
    SCALE = """
    #include "kernel_operator.h"
    extern "C" __global__ __aicore__ void scale(GM_ADDR x, float factor, int64_t count) {
      AscendC::GlobalTensor<float> values;
      values.SetGlobalBuffer((__gm__ float*)x);
      for (int64_t i = AscendC::GetBlockIdx(); i < count; i += AscendC::GetBlockNum())
        values.SetValue(i, values.GetValue(i) * factor);
    }
    """
    compile, load = vendor.kernels.compile, vendor.kernels.load
'''


@pytest.fixture
def compiling(fake_vendor: SimulatedVendor, fake_library: Callable[[str], str]) -> SimulatedVendor:
    return fake_vendor.with_variables(DL_ASCEND_RTC=fake_library("rtc"))


def test_source_is_compiled_and_runs(compiling: SimulatedVendor) -> None:
    code = """
    found = vendor.kernels.properties()
    assert found.languages == ("ascendc",) and not found.unavailable
    assert found.compiler.startswith("/") and found.architecture == "Ascend910B3"
    code = compile(SCALE, name="scale.asc", options=["-DN=1", "-O2"])
    again = compile(SCALE, name="scale.asc", options=["-DN=1", "-O2"])
    assert (code.cached, again.cached, again.bytes) == (False, True, code.bytes)
    scale = load(code).function("scale")
    x = vendor.tensor(np.arange(100, dtype="float32"))
    scale(x, np.float32(3), 100, grid=8)
    np.testing.assert_array_equal(x.numpy(), 3 * np.arange(100))
    assert scale.properties.max_block_threads == 1 and scale.properties.registers is None
    """
    compiling.run_on_vendor(SCALE + code)


def test_a_header_comes_with_the_source(compiling: SimulatedVendor) -> None:
    code = """
    text = '''#include "kernel_operator.h"
    #include "factor.h"
    extern "C" __global__ __aicore__ void k(GM_ADDR x) { *(int*)x = FACTOR; }'''
    x = vendor.empty((1,), "int32")
    load(compile(text, headers={"factor.h": "#define FACTOR 7"})).function("k")(x)
    assert x.numpy().tolist() == [7]
    """
    compiling.run_on_vendor(SCALE + code)


def test_source_that_does_not_compile_has_the_log(compiling: SimulatedVendor) -> None:
    code = """
    text = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { wrong }'
    expect_error(lambda: compile(text, name="bad.asc"), "bad.asc does not compile (error 2)",
                 "wrong", details="wrong")
    """
    compiling.run_on_vendor(SCALE + code)


def test_invalid_sizes_options_and_names_are_reported(compiling: SimulatedVendor) -> None:
    code = """
    expect_error(lambda: compile("", language="cuda"), "'cuda' is not supported")
    for option in ("-I/tmp", "-o", "--npu-arch=dav-3510", "-include/x", "-fplugin=/tmp/x.so", "x"):
        expect_error(lambda: compile("", options=[option]), option, "does more than affect")
    expect_error(lambda: load(b"no code of any kind"), "image_load", "not code of this device")
    module = load(compile(SCALE))
    expect_error(lambda: module.function("missing"), "no kernel 'missing'", "__aicore__")
    scale, x = module.function("scale"), vendor.tensor(np.ones(4, "float32"))
    expect_error(lambda: scale(x, np.float32(2), 4, block=2), "block 2x1x1")
    expect_error(lambda: scale(x, np.float32(2), 4, grid=(1, 2)), "grid 1x2x1")
    expect_error(lambda: scale(x, np.float32(2), 4, shared_bytes=64), "64 shared bytes")
    expect_error(lambda: scale(x, np.float32(2)), "another number of parameters")
    assert x.numpy().tolist() == [1, 1, 1, 1]
    """
    compiling.run_on_vendor(SCALE + code)


def test_chips_without_a_runtime_compiler_are_named(compiling: SimulatedVendor) -> None:
    code = """
    expect_error(lambda: compile(SCALE), "does not compile kernels at run time for Ascend310P3")
    """
    other = {"FAKE_ACL_SOC": "Ascend310P3", "FAKE_ACL_FAIL": "aclrtGetDeviceInfo:107000"}
    compiling.with_variables(**other).run_on_vendor(SCALE + code)


def test_without_a_compiler_the_package_is_named(fake_vendor: SimulatedVendor) -> None:
    code = """
    words = "no aclrtc is installed; CANN's toolkit provides it, or set DL_ASCEND_RTC"
    assert words in vendor.kernels.properties().unavailable
    expect_error(lambda: compile(SCALE), "CANN's toolkit")
    """
    fake_vendor.with_variables(DL_ASCEND_RTC="off").run_on_vendor(SCALE + code)
