"""The kit's declarations of AMD's driver are those of HIP's own headers, where they are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_kernels.hipcc import HipccError, find_hipcc
from processes import KIT

SHAPES = """
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1  // no second hipMalloc for C++
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include "dl/kit/hip_driver.h"
#include "dl/kit/hiprtc.h"
#include <cstddef>
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
namespace dl::kit::hip {
using Image = Module;
#define CHECK(member, symbol, ...) \\
  static_assert(Alike<decltype(&::symbol), __VA_ARGS__>::value, #symbol " differs");
DL_KIT_HIP_DRIVER_FUNCTIONS(CHECK)
DL_KIT_HIP_EXTENSION_FUNCTIONS(CHECK)
}
namespace dl::kit {
DL_KIT_HIPRTC_FUNCTIONS(CHECK)
}
#define SAME(ours, theirs) static_assert(int(dl::kit::hip::ours) == int(theirs), #theirs)
SAME(kSuccess, hipSuccess);
SAME(kInvalidValue, hipErrorInvalidValue);
SAME(kOutOfMemory, hipErrorOutOfMemory);
SAME(kInvalidConfiguration, hipErrorInvalidConfiguration);
SAME(kInsufficientDriver, hipErrorInsufficientDriver);
SAME(kInvalidDeviceFunction, hipErrorInvalidDeviceFunction);
SAME(kNoDevice, hipErrorNoDevice);
SAME(kInvalidDevice, hipErrorInvalidDevice);
SAME(kInvalidImage, hipErrorInvalidImage);
SAME(kNoBinaryForGpu, hipErrorNoBinaryForGpu);
SAME(kInvalidHandle, hipErrorInvalidHandle);
SAME(kNotFound, hipErrorNotFound);
SAME(kNotReady, hipErrorNotReady);
SAME(kIllegalState, hipErrorIllegalState);
SAME(kPeerUnsupported, hipErrorPeerAccessUnsupported);
SAME(kPeerEnabled, hipErrorPeerAccessAlreadyEnabled);
SAME(kPeerNotEnabled, hipErrorPeerAccessNotEnabled);
SAME(kCaptureUnsupported, hipErrorStreamCaptureUnsupported);
SAME(kCaptureInvalidated, hipErrorStreamCaptureInvalidated);
SAME(kCaptureUnmatched, hipErrorStreamCaptureUnmatched);
SAME(kCaptureUnjoined, hipErrorStreamCaptureUnjoined);
SAME(kCapturedEvent, hipErrorCapturedEvent);
SAME(kCaptureWrongThread, hipErrorStreamCaptureWrongThread);
SAME(kCaptureRelaxed, hipStreamCaptureModeRelaxed);
SAME(kMaxBlockX, hipDeviceAttributeMaxBlockDimX);
SAME(kMaxBlockX + 2, hipDeviceAttributeMaxBlockDimZ);
SAME(kMaxGridX, hipDeviceAttributeMaxGridDimX);
SAME(kMaxGridX + 2, hipDeviceAttributeMaxGridDimZ);
SAME(kMaxBlockThreads, hipDeviceAttributeMaxThreadsPerBlock);
SAME(kMaxSharedBytes, hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME(kFunctionBlockThreads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kFunctionSharedBytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(kFunctionConstantBytes, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(kFunctionLocalBytes, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(kFunctionRegisters, HIP_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(sizeof(dl::kit::hip::IpcHandle) == sizeof(hipIpcMemHandle_t), "");
SAME(kComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMajor);
SAME(kComputeCapabilityMinor, hipDeviceAttributeComputeCapabilityMinor);
SAME(kMultiprocessorCount, hipDeviceAttributeMultiprocessorCount);
SAME(kWarpSize, hipDeviceAttributeWarpSize);
SAME(kHostToDevice, hipMemcpyHostToDevice);
SAME(kDeviceToHost, hipMemcpyDeviceToHost);
SAME(kDeviceToDevice, hipMemcpyDeviceToDevice);
static_assert(dl::kit::hip::is_sticky(hipErrorIllegalAddress), "");
static_assert(dl::kit::hip::is_sticky(hipErrorLaunchTimeOut), "");
static_assert(dl::kit::hip::is_sticky(hipErrorAssert), "");
static_assert(dl::kit::hip::is_sticky(hipErrorLaunchFailure), "");
static_assert(!dl::kit::hip::is_sticky(hipErrorLaunchOutOfResources), "");
static_assert(hipStreamNonBlocking == 1 && hipEventDisableTiming == 2, "");
static_assert(hipHostMallocPortable == 1, "");
#ifdef hipGetDeviceProperties  // renamed in ROCm 6, with another layout
constexpr auto kLayout = dl::kit::hip::kProperties6;
SAME(kIpcLazyPeerAccess6, hipIpcMemLazyEnablePeerAccess);
#else
constexpr auto kLayout = dl::kit::hip::kProperties5;
SAME(kIpcLazyPeerAccess5, hipIpcMemLazyEnablePeerAccess);
#endif
static_assert(sizeof(hipDeviceProp_t) == kLayout.bytes, "");
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == kLayout.architecture, "");
"""

LAUNCH = """
#include <hip/hip_runtime.h>
__global__ void kernel(int* to) { *to = 1; }
void launch(int* to, hipStream_t stream) { kernel<<<1, 1, 0, stream>>>(to); }
"""
LOADED = {
    "__hipRegisterFatBinary",
    "__hipUnregisterFatBinary",
    "__hipRegisterFunction",
    "__hipRegisterVar",
    "__hipPushCallConfiguration",
    "__hipPopCallConfiguration",
    "hipLaunchKernel",
}


@pytest.fixture(scope="module")
def headers() -> Path:
    """The folder of HIP's headers."""
    folders = (Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "include", Path("/usr/include"))
    for folder in folders:
        if (folder / "hip" / "hip_runtime_api.h").is_file():
            return folder
    pytest.skip("HIP's headers are not installed")


def compiled(text: str, folder: Path, headers: Path) -> subprocess.CompletedProcess[str]:
    source = folder / "shapes.cpp"
    source.write_text(text, encoding="utf-8")
    folders = [f"-I{path}" for path in (contract_dir(), KIT / "include", headers)]
    command = ["g++", "-std=c++17", "-fsyntax-only", "-w", *folders, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_functions_have_the_shapes_of_hip_runtime_api_h(headers: Path, tmp_path: Path) -> None:
    done = compiled(SHAPES, tmp_path, headers)
    assert done.returncode == 0, done.stderr


def test_a_function_of_another_shape_is_noticed(headers: Path, tmp_path: Path) -> None:
    wrong = "static_assert(Alike<decltype(&::hipInit), int (*)(size_t)>::value);"
    assert "static assertion failed" in compiled(SHAPES + wrong, tmp_path, headers).stderr


def test_stubs_call_what_the_loader_has(tmp_path: Path) -> None:
    """They are no public interface of HIP's, and change with its releases."""
    try:
        hipcc = find_hipcc()
    except HipccError as error:
        pytest.skip(str(error))
    source, target = tmp_path / "unit.hip", tmp_path / "unit.o"
    source.write_text(LAUNCH, encoding="utf-8")
    flags = ("--offload-arch=gfx90a", "-c", str(source), "-o", str(target))
    subprocess.run([*hipcc.command, *flags], check=True)
    listed = subprocess.run(
        ["nm", "--undefined-only", str(target)], capture_output=True, text=True, check=True
    ).stdout
    called = {word for word in listed.split() if "hip" in word.lower()}
    assert called
    assert called <= LOADED
