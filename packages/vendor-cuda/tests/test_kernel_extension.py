"""Tests of kernels from source text, compiled by NVRTC and run by a driver simulator."""

from __future__ import annotations

from extension_tests.kernels import *  # noqa: F403 - pytest collects them here
from extension_tests.kernels import SCALE
from extension_tests.simulated_vendor import SimulatedVendor


def test_the_language_is_cudas(compiling: SimulatedVendor) -> None:
    code = """
    found = vendor.kernels.properties()
    assert found.languages == ("cuda",) and found.architecture == "sm_80"
    vendor.kernels.compile(SCALE, options=["--use_fast_math"])
    """
    compiling.run_on_vendor(SCALE + code)


def test_compiler_errors_and_wrong_arguments_are_reported(compiling: SimulatedVendor) -> None:
    code = """
    compile, load = vendor.kernels.compile, vendor.kernels.load
    expect_error(lambda: compile("__global__ void k() { x = 1; }", name="bad.cu"),
                 "bad.cu does not compile", '"x" is undefined', details="bad.cu(1): error")
    scale, x = load(compile(SCALE)).function("scale"), vendor.tensor(np.ones(4, "float32"))
    expect_error(lambda: scale(x, np.float32(2)),
                 "'scale'", "2 arguments for the kernel's 3 parameters")
    expect_error(lambda: scale(x, 2.0, 4), "argument 1 has 8 bytes, its parameter 4")
    assert x.numpy().tolist() == [1, 1, 1, 1]
    """
    compiling.run_on_vendor(SCALE + code)


def test_a_missing_compiler_error_names_its_package(simulated_vendor: SimulatedVendor) -> None:
    code = """
    from diopi_proto import UnavailableError
    assert "pip install nvidia-cuda-nvrtc" in vendor.kernels.properties().unavailable
    try:
        vendor.kernels.compile("")
    except UnavailableError as error:
        print(error)
    """
    without = simulated_vendor.with_variables(DL_CUDA_NVRTC="off")
    output = without.run_on_vendor(code)
    assert "pip install nvidia-cuda-nvrtc" in output and "DL_CUDA_NVRTC" in output
    assert "pip install nvidia-cuda-nvrtc" in without.doctor()["kernels"]["unavailable"]


def test_the_doctor_names_the_compiler(compiling: SimulatedVendor) -> None:
    found = compiling.doctor()
    assert found["kernels"]["compiler"] == compiling.variables["DL_CUDA_NVRTC"]
    assert {"graph", "kernel", "peer"} <= set(found["extensions"])
