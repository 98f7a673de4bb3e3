"""Tests that our declarations of NVIDIA's libraries match its headers, if these are installed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from driver_tests.processes import undefined_symbols
from driver_tests.signatures import ALIKE
from extension_tests.shapes import NCCL as SHAPES_OF_NCCL
from extension_tests.shapes import blaslt

from dl_kernels.nvcc import NvccError, find_nvcc
from processes import PROCESSES, nvidia_file

SHAPES = (
    "#include <cstddef>\n#include <cuda.h>\n#include <driver_types.h>\n"
    + ALIKE
    + """
#include "dl/kit/cuda_driver.h"
namespace dl::kit::cuda {
DL_KIT_CUDA_DRIVER_FUNCTIONS(CHECK)
DL_KIT_CUDA_EXTENSION_FUNCTIONS(CHECK)
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
SAME(kInvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(kPeerUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
SAME(kPeerEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(kPeerNotEnabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
SAME(kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(kCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
SAME(kMaxBlockThreads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kMaxBlockX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(kMaxBlockX + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(kMaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(kMaxGridX + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(kMaxSharedBytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(kFunctionBlockThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kFunctionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(kFunctionConstantBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(kFunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(kFunctionPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(kFunctionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
#define PLACE(ours, theirs) static_assert(offsetof(dl::kit::cuda::FunctionAttributes, ours) == \\
                                          offsetof(cudaFuncAttributes, theirs), #theirs)
PLACE(shared, sharedSizeBytes);
PLACE(ptx_version, ptxVersion);
PLACE(binary_version, binaryVersion);
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_ILLEGAL_ADDRESS), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_LAUNCH_TIMEOUT), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_ASSERT), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_HARDWARE_STACK_ERROR), "");
static_assert(dl::kit::cuda::is_sticky(CUDA_ERROR_LAUNCH_FAILED), "");
static_assert(!dl::kit::cuda::is_sticky(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED), "");
static_assert(CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2, "");
static_assert(CU_MEMHOSTALLOC_PORTABLE == 1, "");
"""
)

NVRTC = (
    "#include <nvrtc.h>\n"
    + ALIKE
    + """
#include "dl/kit/nvrtc.h"
namespace dl::kit {
DL_KIT_NVRTC_FUNCTIONS(CHECK)
}
"""
)

NCCL = "#include <nccl.h>\n" + ALIKE + SHAPES_OF_NCCL

CUBLASLT = (
    '#include <cublasLt.h>\n#include "library/blaslt_api.h"\n'
    + ALIKE
    + blaslt("cublas", "dl::cuda")
    + """
SAME(kReductionSchemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(kReducesInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(kAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(kAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(kAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(kAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
"""
)

CUDNN = "#include <cudnn_graph.h>\n" + ALIKE + '#include "cudnn.h"\n'

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


CUPTI = (
    "#include <cuda.h>\n#include <cupti_activity.h>\n"
    + ALIKE
    + """
#include "extensions/cupti_api.h"
namespace dl::cuda {
DL_CUDA_CUPTI_FUNCTIONS(CHECK)
}
namespace ours = dl::cuda::cupti;
#define PLACE(record, theirs, member, their_member) \\
  static_assert(offsetof(ours::record, member) == offsetof(theirs, their_member), #member)
#define TIMES(record, theirs) \\
  PLACE(record, theirs, kind, kind); PLACE(record, theirs, start, start); \\
  PLACE(record, theirs, end, end); PLACE(record, theirs, device, deviceId); \\
  PLACE(record, theirs, stream, streamId); PLACE(record, theirs, correlation, correlationId)
TIMES(KernelRecord, CUpti_ActivityKernel$);
PLACE(KernelRecord, CUpti_ActivityKernel$, name, name);
TIMES(CopyRecord, CUpti_ActivityMemcpy$);
PLACE(CopyRecord, CUpti_ActivityMemcpy$, bytes, bytes);
PLACE(CopyRecord, CUpti_ActivityMemcpy$, copy_kind, copyKind);
TIMES(SetRecord, CUpti_ActivityMemset$);
PLACE(SetRecord, CUpti_ActivityMemset$, bytes, bytes);
PLACE(ExternalRecord, CUpti_ActivityExternalCorrelation, external_kind, externalKind);
PLACE(ExternalRecord, CUpti_ActivityExternalCorrelation, id, externalId);
PLACE(ExternalRecord, CUpti_ActivityExternalCorrelation, correlation, correlationId);
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, CUPTI_SUCCESS);
SAME(kCopy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(kSet, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(kKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(kExternal, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(kOurCorrelation, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
static_assert(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD == 1 && CUPTI_ACTIVITY_MEMCPY_KIND_DTOH == 2);
static_assert(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD == 8);
static_assert(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == 35);
"""
)


@pytest.fixture(scope="module")
def toolkit() -> tuple[list[str], Path]:
    """Return the command of nvcc and the folder of CUDA's headers."""
    try:
        found = find_nvcc()
    except NvccError as error:
        pytest.skip(str(error))
    output = subprocess.run(
        [*found.command, "--dryrun", "-c", "-x", "cu", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    (top,) = [line.partition("TOP=")[2].strip() for line in output.splitlines() if "TOP=" in line]
    return list(found.command), Path(top) / "include"


def find_errors(text: str, folder: Path, *headers: Path) -> str:
    """Return the errors of C++ that includes headers of these folders."""
    folders = (PROCESSES.folder / "tests" / "shapes", *headers)
    return PROCESSES.compile_text(text, folder, "-fsyntax-only", *(f"-I{path}" for path in folders))


def test_functions_have_the_signatures_of_cuda_h(
    toolkit: tuple[list[str], Path], tmp_path: Path
) -> None:
    assert not find_errors(SHAPES, tmp_path, toolkit[1])


def test_a_function_with_another_signature_is_detected(
    toolkit: tuple[list[str], Path], tmp_path: Path
) -> None:
    wrong = "static_assert(Alike<decltype(&::cuInit), dl::kit::cuda::Code (*)(size_t)>::value);"
    assert "static assertion failed" in find_errors(SHAPES + wrong, tmp_path, toolkit[1])


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("nvrtc.h", NVRTC),
        ("nccl.h", NCCL),
        ("cublasLt.h", CUBLASLT),
        ("cudnn_graph.h", CUDNN),
        ("cupti_activity.h", CUPTI),
    ],
)
def test_libraries_have_the_signatures_of_their_headers(
    toolkit: tuple[list[str], Path], tmp_path: Path, header: str, text: str
) -> None:
    file = nvidia_file(f"include/{header}")
    declared = file.read_text(encoding="utf-8")

    def latest(record: re.Match[str]) -> str:
        """Return CUPTI's newest version of a record, whose number releases may increment."""
        numbers = re.findall(rf"}} {record[1]}(\d+);", declared)
        return record[1] + max(numbers, key=int)

    text = re.sub(r"(CUpti_\w+)\$", latest, text)
    assert not find_errors(text, tmp_path, file.parent, toolkit[1])


def test_stubs_call_functions_of_the_loader(
    toolkit: tuple[list[str], Path], tmp_path: Path
) -> None:
    """These functions are not a public interface of CUDA and change between releases."""
    source = tmp_path / "unit.cu"
    source.write_text(LAUNCH, encoding="utf-8")
    target = tmp_path / "unit.o"
    command = [*toolkit[0], "-arch=compute_75", "-c", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    called = {name for name in undefined_symbols(target) if "cuda" in name.lower()}
    assert called
    assert called <= LOADED
