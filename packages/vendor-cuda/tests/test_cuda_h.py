"""The kit's declarations of NVIDIA's driver and runtime are those of CUDA's own headers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_kernels.nvcc import NvccError, find_nvcc
from processes import KIT

SHAPES = """
#include <cuda.h>
#include "dl/kit/cuda_driver.h"
#include <type_traits>

// Of one size and kind: a pointer for a pointer, an integer for an enumeration.
template <class A, class B>
constexpr bool alike_v = sizeof(A) == sizeof(B) &&
    std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class A, class B>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
struct Alike<R (*)(A...), S (*)(B...)> {
  template <class... X, class... Y>
  static constexpr bool each(void (*)(X...), void (*)(Y...)) {
    if constexpr (sizeof...(X) != sizeof...(Y)) return false;
    else return (alike_v<X, Y> && ... && true);
  }
  static constexpr bool value = alike_v<R, S> &&
      each(static_cast<void (*)(A...)>(nullptr), static_cast<void (*)(B...)>(nullptr));
};
namespace dl::kit::cuda {
#define CHECK(member, symbol, ...) \\
  static_assert(Alike<decltype(&::symbol), __VA_ARGS__>::value, #symbol " differs");
DL_KIT_CUDA_DRIVER_FUNCTIONS(CHECK)
}
#define SAME(ours, theirs) static_assert(int(dl::kit::cuda::ours) == int(theirs), #theirs)
SAME(kSuccess, CUDA_SUCCESS);
SAME(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(kNotFound, CUDA_ERROR_NOT_FOUND);
SAME(kNotReady, CUDA_ERROR_NOT_READY);
SAME(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_ILLEGAL_ADDRESS), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_LAUNCH_TIMEOUT), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_ASSERT), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_HARDWARE_STACK_ERROR), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_LAUNCH_FAILED), "");
static_assert(!dl::kit::cuda::is_sticky(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED), "");
static_assert(CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2, "");
static_assert(CU_MEMHOSTALLOC_PORTABLE == 1, "");
"""

LAUNCH = """
__global__ void kernel(int* to) { *to = 1; }
void launch(int* to) { kernel<<<1, 1>>>(to); }
"""
LOADED = {
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaUnregisterFatBinary",
    "__cudaRegisterFunction",
    "__cudaRegisterVar",
    "__cudaInitModule",
    "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration",
    "__cudaGetKernel",
    "__cudaLaunchKernel",
    "cudaLaunchKernel",
}


@pytest.fixture(scope="module")
def toolkit() -> tuple[list[str], Path]:
    """The command of nvcc, and the folder of CUDA's headers."""
    try:
        found = find_nvcc()
    except NvccError as error:
        pytest.skip(str(error))
    said = subprocess.run(
        [*found.command, "--dryrun", "-c", "-x", "cu", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    (top,) = [line.partition("TOP=")[2].strip() for line in said.splitlines() if "TOP=" in line]
    return list(found.command), Path(top) / "include"


def compiled(text: str, folder: Path, headers: Path) -> subprocess.CompletedProcess[str]:
    source = folder / "shapes.cpp"
    source.write_text(text, encoding="utf-8")
    folders = [f"-I{path}" for path in (contract_dir(), KIT / "include", headers)]
    command = ["g++", "-std=c++17", "-fsyntax-only", *folders, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_functions_have_the_shapes_of_cuda_h(
    toolkit: tuple[list[str], Path], tmp_path: Path
) -> None:
    done = compiled(SHAPES, tmp_path, toolkit[1])
    assert done.returncode == 0, done.stderr


def test_a_function_of_another_shape_is_noticed(
    toolkit: tuple[list[str], Path], tmp_path: Path
) -> None:
    wrong = "static_assert(Alike<decltype(&::cuInit), dl::kit::cuda::Code (*)(size_t)>::value);"
    assert "static assertion failed" in compiled(SHAPES + wrong, tmp_path, toolkit[1]).stderr


def test_stubs_call_what_the_loader_has(toolkit: tuple[list[str], Path], tmp_path: Path) -> None:
    """They are no public interface of CUDA's, and change with its releases."""
    source = tmp_path / "unit.cu"
    source.write_text(LAUNCH, encoding="utf-8")
    target = tmp_path / "unit.o"
    command = [*toolkit[0], "-arch=compute_75", "-c", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    listed = subprocess.run(
        ["nm", "--undefined-only", str(target)], capture_output=True, text=True, check=True
    ).stdout
    called = {word for word in listed.split() if "cuda" in word.lower()}
    assert called
    assert called <= LOADED
