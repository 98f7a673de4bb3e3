"""Tests of kernels from source text, compiled by NVRTC and run by a driver simulator."""

from __future__ import annotations

from extension_tests.kernels import *  # noqa: F403 - pytest collects them here
from extension_tests.kernels import SCALE

from processes import doctor, run_on_vendor


def test_the_language_is_cudas(simulator: str, nvrtc: str) -> None:
    code = """
    found = vendor.kernels.properties()
    assert found.languages == ("cuda",) and found.architecture == "sm_80"
    vendor.kernels.compile(SCALE, options=["--use_fast_math"])
    """
    run_on_vendor(SCALE + code, DL_CUDA_DRIVER=simulator, DL_CUDA_NVRTC=nvrtc)


def test_compiler_errors_and_wrong_arguments_are_reported(simulator: str, nvrtc: str) -> None:
    code = """
    def refused(call, *words, details=""):
        try:
            call()
        except VendorError as error:
            assert all(word in str(error) for word in words), str(error)
            assert details in (error.details or ""), error.details
        else:
            raise AssertionError(words)
    compile, load = vendor.kernels.compile, vendor.kernels.load
    refused(lambda: compile("__global__ void k() { x = 1; }", name="bad.cu"),
            "bad.cu does not compile", '"x" is undefined', details="bad.cu(1): error")
    scale, x = load(compile(SCALE)).function("scale"), vendor.tensor(np.ones(4, "float32"))
    refused(lambda: scale(x, np.float32(2)), "'scale'", "2 arguments for the kernel's 3 parameters")
    refused(lambda: scale(x, 2.0, 4), "argument 1 has 8 bytes, its parameter 4")
    assert x.numpy().tolist() == [1, 1, 1, 1]
    """
    run_on_vendor(SCALE + code, DL_CUDA_DRIVER=simulator, DL_CUDA_NVRTC=nvrtc)


def test_a_missing_compiler_error_names_its_package(simulator: str) -> None:
    code = """
    from diopi_proto import UnavailableError
    assert "pip install nvidia-cuda-nvrtc" in vendor.kernels.properties().unavailable
    try:
        vendor.kernels.compile("")
    except UnavailableError as error:
        print(error)
    """
    output = run_on_vendor(code, DL_CUDA_DRIVER=simulator, DL_CUDA_NVRTC="off")
    assert "pip install nvidia-cuda-nvrtc" in output and "DL_CUDA_NVRTC" in output
    kernels = doctor(DL_CUDA_DRIVER=simulator, DL_CUDA_NVRTC="off")["kernels"]
    assert "pip install nvidia-cuda-nvrtc" in kernels["unavailable"]


def test_the_doctor_names_the_compiler(simulator: str, nvrtc: str) -> None:
    found = doctor(DL_CUDA_DRIVER=simulator, DL_CUDA_NVRTC=nvrtc)
    assert found["kernels"]["compiler"] == nvrtc
    assert {"graph", "kernel", "peer"} <= set(found["extensions"])
