"""Tests of kernels from source text, compiled by a fake hipRTC and run by the fake driver."""

from __future__ import annotations

from collections.abc import Callable

from extension_tests import kernels
from extension_tests.kernels import *  # noqa: F403 - pytest collects them here
from extension_tests.kernels import SCALE
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import long
from processes import doctor

test_wrong_sizes_and_names_are_reported = long(kernels.test_wrong_sizes_and_names_are_reported)
test_a_header_comes_with_the_source = long(kernels.test_a_header_comes_with_the_source)


def test_the_language_is_hips(compiling: SimulatedVendor) -> None:
    code = """
    found = vendor.kernels.properties()
    assert found.languages == ("hip",) and found.architecture == "gfx90a"
    vendor.kernels.compile(SCALE, options=["-ffast-math", "-O3"])
    """
    compiling.run_on_vendor(SCALE + code)


def test_compiler_errors_are_reported(compiling: SimulatedVendor) -> None:
    code = """
    try:
        vendor.kernels.compile("__global__ void k() { x = 1; }", name="bad.hip")
    except VendorError as error:
        print(error)
        assert "bad.hip:1:" in error.details, error.details
    """
    output = compiling.run_on_vendor(code)
    assert "bad.hip does not compile (HIPRTC_ERROR_COMPILATION): bad.hip:1:" in output
    failing = compiling.with_variables(FAKE_HIPRTC_FAIL="hiprtcGetCode:11")
    code = """
    try:
        vendor.kernels.compile("")
    except VendorError as error:
        print(error)
    """
    assert "HIPRTC_ERROR_INTERNAL_ERROR" in failing.run_on_vendor(code)


@long
def test_code_is_for_the_architecture_of_the_device(compiling: SimulatedVendor) -> None:
    code = """
    code = vendor.kernels.compile(SCALE, device=0)
    try:
        vendor.kernels.load(code, device=1)
    except VendorError as error:
        print(error)
    """
    apart = compiling.with_variables(FAKE_HIP_DEVICES="gfx90a,gfx1030")
    output = apart.run_on_vendor(SCALE + code)
    assert "(209)" in output and "no code for the device" in output


@long
def test_a_wrong_kernel_gives_a_wrong_result(compiling: SimulatedVendor) -> None:
    """The text itself runs: without its barrier, threads read elements before they are written."""
    code = """
    wrong = SCALE.replace("__syncthreads();", "")
    given, out = vendor.tensor(np.arange(32, dtype="int32")), vendor.empty((32,), "int32")
    function = vendor.kernels.load(vendor.kernels.compile(wrong)).function("turn")
    function(given, out, block=32, shared_bytes=128)
    assert out.numpy().tolist() != list(range(32))[::-1]
    """
    compiling.run_on_vendor(SCALE + code)


@long
def test_a_kernel_of_an_unloaded_module_is_not_launched(compiling: SimulatedVendor) -> None:
    code = """
    from diopi_proto import ffi
    module = vendor.kernels.load(vendor.kernels.compile(SCALE))
    scale, x = module.function("scale"), vendor.tensor(np.ones(4, "float32"))
    scale(x, np.float32(2), 4, block=4)
    vendor.kernels._slots.call("unload", 0, module._pointer)
    try:
        scale(x, np.float32(2), 4, block=4)
    except VendorError as error:
        print(error)
    assert x.numpy().tolist() == [2, 2, 2, 2]
    """
    assert "is not a kernel of device 0, or was destroyed" in compiling.run_on_vendor(SCALE + code)


def test_a_missing_compiler_error_names_its_package(simulated_vendor: SimulatedVendor) -> None:
    off = simulated_vendor.with_variables(DL_ROCM_HIPRTC="off")
    code = """
    from diopi_proto import UnavailableError
    assert "hip-runtime-amd" in vendor.kernels.properties().unavailable
    try:
        vendor.kernels.compile("")
    except UnavailableError as error:
        print(error)
    """
    output = off.run_on_vendor(code)
    assert "hip-runtime-amd" in output and "DL_ROCM_HIPRTC" in output
    assert "hip-runtime-amd" in doctor(**off.variables)["kernels"]["unavailable"]


def test_the_doctor_names_the_compiler(compiling: SimulatedVendor) -> None:
    found = doctor(**compiling.variables)
    assert found["kernels"]["compiler"] == compiling.variables["DL_ROCM_HIPRTC"]
    assert {"graph", "kernel", "peer"} <= set(found["extensions"])


def test_the_fake_refuses_what_hiprtc_refuses(fake_library: Callable[[str], str]) -> None:
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("""
    int hiprtcCreateProgram(void**, const char*, const char*, int, const char**, const char**);
    int hiprtcCompileProgram(void*, int, const char**); int hiprtcGetCodeSize(void*, size_t*);
    int hiprtcDestroyProgram(void**);
    """)
    rtc = ffi.dlopen(fake_library("hiprtc"))
    program, size = ffi.new("void**"), ffi.new("size_t*")
    assert rtc.hiprtcCreateProgram(program, ffi.NULL, b"x", 0, ffi.NULL, ffi.NULL) == 3
    assert rtc.hiprtcCreateProgram(program, b"", b"x", 0, ffi.NULL, ffi.NULL) == 0
    assert rtc.hiprtcGetCodeSize(program[0], size) == 4
    assert rtc.hiprtcCompileProgram(program[0], 0, ffi.NULL) == 5
    kept = program[0]
    assert rtc.hiprtcDestroyProgram(program) == 0
    assert rtc.hiprtcGetCodeSize(kept, size) == 4
