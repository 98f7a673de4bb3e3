"""Tests that our declarations of AMD's libraries match their headers, if these are installed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from driver_tests.processes import undefined_symbols
from driver_tests.signatures import ALIKE
from extension_tests.shapes import NCCL as SHAPES_OF_NCCL
from extension_tests.shapes import blaslt

from dl_kernels.hipcc import HipccError, find_hipcc
from processes import PROCESSES

HIP = """
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1  // no second hipMalloc for C++
#include <cstddef>
"""

SHAPES = (
    HIP
    + ALIKE
    + """
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include "dl/kit/hip_driver.h"
#include "dl/kit/hiprtc.h"
namespace dl::kit::hip {
using Image = Module;
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
)

HIPBLASLT = (
    HIP
    + '#include <hipblaslt/hipblaslt.h>\n#include "library/hipblaslt_api.h"\n'
    + ALIKE
    + blaslt("hipblas", "dl::rocm")
)

MIOPEN = (
    HIP
    + ALIKE
    + """
#include <miopen/miopen.h>
#include "library/miopen_api.h"
namespace dl::rocm {
DL_ROCM_MIOPEN_FUNCTIONS(CHECK)
}
namespace ours = dl::rocm::miopen;
static_assert(sizeof(ours::Solution) == sizeof(miopenConvSolution_t));
#define PLACE(a, b) static_assert(offsetof(ours::Solution, a) == offsetof(miopenConvSolution_t, b))
PLACE(milliseconds, time);
PLACE(workspace, workspace_size);
PLACE(id, solution_id);
PLACE(algorithm, algorithm);
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, miopenStatusSuccess);
SAME(kAllocationFailed, miopenStatusAllocFailed);
SAME(kNotImplemented, miopenStatusNotImplemented);
SAME(kUnsupported, miopenStatusUnsupportedOp);
SAME(kFloat16, miopenHalf);
SAME(kFloat32, miopenFloat);
SAME(kBfloat16, miopenBFloat16);
SAME(kFloat64, miopenDouble);
SAME(kCrossCorrelation, miopenConvolution);
SAME(kFp16Alternative, MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL);
SAME(kDeterministic, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC);
SAME(kGemm, miopenConvolutionAlgoGEMM);
SAME(kDirect, miopenConvolutionAlgoDirect);
SAME(kFft, miopenConvolutionAlgoFFT);
SAME(kWinograd, miopenConvolutionAlgoWinograd);
SAME(kImplicitGemm, miopenConvolutionAlgoImplicitGEMM);
"""
)

RCCL = "#include <rccl/rccl.h>\n" + ALIKE + SHAPES_OF_NCCL
ROCTRACER = (
    HIP
    + ALIKE
    + """
#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hip.h>
#include "extensions/roctracer_api.h"
namespace dl::rocm {
DL_ROCM_ROCTRACER_FUNCTIONS(CHECK)
}
namespace ours = dl::rocm::roctracer;
static_assert(sizeof(ours::Record) == sizeof(roctracer_record_t));
static_assert(sizeof(ours::Properties) == sizeof(roctracer_properties_t));
#define PLACE(record, theirs, member, their_member) \\
  static_assert(offsetof(ours::record, member) == offsetof(theirs, their_member), #member)
PLACE(Record, roctracer_record_t, kind, kind);
PLACE(Record, roctracer_record_t, op, op);
PLACE(Record, roctracer_record_t, correlation, correlation_id);
PLACE(Record, roctracer_record_t, start, begin_ns);
PLACE(Record, roctracer_record_t, end, end_ns);
PLACE(Record, roctracer_record_t, device, device_id);
PLACE(Record, roctracer_record_t, external, external_id);
PLACE(Record, roctracer_record_t, bytes, bytes);
PLACE(Record, roctracer_record_t, kernel, kernel_name);
PLACE(Properties, roctracer_properties_t, buffer_bytes, buffer_size);
PLACE(Properties, roctracer_properties_t, completed, buffer_callback_fun);
PLACE(Properties, roctracer_properties_t, completed_argument, buffer_callback_arg);
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, ROCTRACER_STATUS_SUCCESS);
SAME(kDevices, ACTIVITY_DOMAIN_HIP_OPS);
SAME(kCalls, ACTIVITY_DOMAIN_HIP_API);
SAME(kExternal, ACTIVITY_DOMAIN_EXT_API);
SAME(kKernel, HIP_OP_ID_DISPATCH);
SAME(kCopy, HIP_OP_ID_COPY);
SAME(kExternalId, ACTIVITY_EXT_OP_EXTERN_ID);
"""
)

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


def folder_of(header: str) -> Path:
    """Return the folder of ROCm's headers that contains this one."""
    folders = (Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "include", Path("/usr/include"))
    for folder in folders:
        if (folder / header).is_file():
            return folder
    pytest.skip(f"{header} is not installed")


@pytest.fixture(scope="module")
def headers() -> Path:
    """Return the folder of HIP's headers."""
    return folder_of("hip/hip_runtime_api.h")


def find_errors(text: str, folder: Path, headers: Path) -> str:
    """Return the errors of C++ that includes headers of a folder."""
    return PROCESSES.compile_text(text, folder, "-fsyntax-only", f"-I{headers}")


def test_functions_have_the_signatures_of_hip_runtime_api_h(headers: Path, tmp_path: Path) -> None:
    assert not find_errors(SHAPES, tmp_path, headers)


def test_a_function_with_another_signature_is_detected(headers: Path, tmp_path: Path) -> None:
    wrong = "static_assert(Alike<decltype(&::hipInit), int (*)(size_t)>::value);"
    assert "static assertion failed" in find_errors(SHAPES + wrong, tmp_path, headers)


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("hipblaslt/hipblaslt.h", HIPBLASLT),
        ("miopen/miopen.h", MIOPEN),
        ("rccl/rccl.h", RCCL),
        ("roctracer/roctracer_ext.h", ROCTRACER),
    ],
)
def test_libraries_have_the_signatures_of_their_headers(
    tmp_path: Path, header: str, text: str
) -> None:
    assert not find_errors(text, tmp_path, folder_of(header))


def test_stubs_call_functions_of_the_loader(tmp_path: Path) -> None:
    """These functions are not a public interface of HIP and change between releases."""
    try:
        hipcc = find_hipcc()
    except HipccError as error:
        pytest.skip(str(error))
    source, target = tmp_path / "unit.hip", tmp_path / "unit.o"
    source.write_text(LAUNCH, encoding="utf-8")
    flags = ("--offload-arch=gfx90a", "-c", str(source), "-o", str(target))
    subprocess.run([*hipcc.command, *flags], check=True)
    called = {name for name in undefined_symbols(target) if "hip" in name.lower()}
    assert called
    assert called <= LOADED
