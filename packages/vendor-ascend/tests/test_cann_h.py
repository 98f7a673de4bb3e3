"""Tests that our declarations of CANN's functions match its headers.

The headers are those of an installed CANN, or those in torch_npu's wheel, which
``tools/declarations.py`` downloads.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driver_tests.signatures import ALIKE

from processes import PROCESSES

UNPACKED = "DL_TEST_TORCH_NPU"
"""Variable with the folder of the headers in torch_npu's wheel."""

ACL = (
    "#include <acl/acl.h>\n#include <acl/error_codes/rt_error_codes.h>\n"
    + ALIKE
    + """
#include "runtime/acl_api.h"
namespace dl::ascend::acl {
DL_ASCEND_ACL_FUNCTIONS(CHECK)
DL_ASCEND_ACL_OPTIONAL_FUNCTIONS(CHECK)
}
namespace ours = dl::ascend::acl;
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, ACL_SUCCESS);
SAME(kRepeatedInitialize, ACL_ERROR_REPEAT_INITIALIZE);
SAME(kInvalidParameter, ACL_ERROR_RT_PARAM_INVALID);
SAME(kInvalidDevice, ACL_ERROR_RT_INVALID_DEVICEID);
SAME(kNoContext, ACL_ERROR_RT_CONTEXT_NULL);
SAME(kWrongContext, ACL_ERROR_RT_STREAM_CONTEXT);
SAME(kUnaligned, ACL_ERROR_RT_ADDR_UNALIGNED);
SAME(kCaptureFirst, ACL_ERROR_RT_CAPTURE_DEPENDENCY);
SAME(kUnjoined, ACL_ERROR_RT_STREAM_UNJOINED);
SAME(kStreamCaptured, ACL_ERROR_RT_STREAM_CAPTURED);
SAME(kEventCaptured, ACL_ERROR_RT_EVENT_CAPTURED);
SAME(kNotCaptured, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
SAME(kCaptureUnsupported, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
SAME(kCaptureUnmatched, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
SAME(kArrayTooShort, ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY);
SAME(kCaptureBlocks, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC);
SAME(kCaptureLast, ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING);
SAME(kUnallocated, ACL_ERROR_BAD_ALLOC);
SAME(kUnsupported, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
SAME(kOutOfMemory, ACL_ERROR_RT_MEMORY_ALLOCATION);
SAME(kNoDevice, ACL_ERROR_RT_NO_DEVICE);
SAME(kDeviceOutOfMemory, ACL_ERROR_RT_DEVICE_OOM);
SAME(kStreamNotComplete, ACL_ERROR_RT_STREAM_NOT_COMPLETE);
SAME(kEventNotComplete, ACL_ERROR_RT_EVENT_NOT_COMPLETE);
SAME(kLostHeartbeat, ACL_ERROR_RT_LOST_HEARTBEAT);
SAME(kAicoreException, ACL_ERROR_RT_AICORE_EXCEPTION);
SAME(kSetupFailed, ACL_ERROR_RT_DEV_SETUP_ERROR);
SAME(kDriverFailure, ACL_ERROR_RT_DRV_INTERNAL_ERROR);
SAME(kCaptureInvalidated, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
SAME(kStreamComplete, ACL_STREAM_STATUS_COMPLETE);
SAME(kStreamNotReady, ACL_STREAM_STATUS_NOT_READY);
SAME(kEventNotReady, ACL_EVENT_RECORDED_STATUS_NOT_READY);
SAME(kEventComplete, ACL_EVENT_RECORDED_STATUS_COMPLETE);
SAME(kHostToDevice, ACL_MEMCPY_HOST_TO_DEVICE);
SAME(kDeviceToHost, ACL_MEMCPY_DEVICE_TO_HOST);
SAME(kDeviceToDevice, ACL_MEMCPY_DEVICE_TO_DEVICE);
SAME(kHugeFirst, ACL_MEM_MALLOC_HUGE_FIRST);
SAME(kDdrMemory, ACL_DDR_MEM);
SAME(kHbmMemory, ACL_HBM_MEM);
SAME(kDeterministic, ACL_OPT_DETERMINISTIC);
SAME(kInfNan, ACL_RT_OVERFLOW_MODE_INFNAN);
SAME(kAicoreCount, ACL_DEVICE_INFO_AI_CORE_NUM);
SAME(kNpuArchitecture, ACL_DEV_ATTR_NPU_ARCH);
SAME(kMagicOption, ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC);
SAME(kAicoreMagic, ACL_RT_BINARY_MAGIC_ELF_AICORE);
static_assert(sizeof(ours::BinaryOption) == sizeof(aclrtBinaryLoadOption));
static_assert(sizeof(ours::BinaryOptions) == sizeof(aclrtBinaryLoadOptions));
static_assert(offsetof(ours::BinaryOption, magic) == offsetof(aclrtBinaryLoadOption, value));
static_assert(offsetof(ours::BinaryOptions, count) == offsetof(aclrtBinaryLoadOptions, numOpt));
SAME(kFastLaunch, ACL_STREAM_FAST_LAUNCH);
SAME(kFastSync, ACL_STREAM_FAST_SYNC);
SAME(kEventSync, ACL_EVENT_SYNC);
SAME(kEventTimeLine, ACL_EVENT_TIME_LINE);
SAME(kCaptureRelaxed, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
SAME(kCaptureNone, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
SAME(kCaptureActive, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
SAME(kCaptureBroken, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
"""
)

HCCL = (
    "#include <acl/acl.h>\n#include <hccl/hccl.h>\n"
    + ALIKE
    + """
#include "extensions/hccl_api.h"
namespace dl::ascend {
DL_ASCEND_HCCL_FUNCTIONS(CHECK)
DL_ASCEND_HCCL_OPTIONAL_FUNCTIONS(CHECK)
}
namespace ours = dl::ascend::hccl;
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, HCCL_SUCCESS);
SAME(kInvalidParameter, HCCL_E_PARA);
SAME(kNullPointer, HCCL_E_PTR);
SAME(kInternal, HCCL_E_INTERNAL);
SAME(kUnsupported, HCCL_E_NOT_SUPPORT);
SAME(kTimeout, HCCL_E_TIMEOUT);
SAME(kRemote, HCCL_E_REMOTE);
SAME(kSum, HCCL_REDUCE_SUM);
SAME(kProduct, HCCL_REDUCE_PROD);
SAME(kMaximum, HCCL_REDUCE_MAX);
SAME(kMinimum, HCCL_REDUCE_MIN);
SAME(kInt8, HCCL_DATA_TYPE_INT8);
SAME(kInt16, HCCL_DATA_TYPE_INT16);
SAME(kInt32, HCCL_DATA_TYPE_INT32);
SAME(kFloat16, HCCL_DATA_TYPE_FP16);
SAME(kFloat32, HCCL_DATA_TYPE_FP32);
SAME(kInt64, HCCL_DATA_TYPE_INT64);
SAME(kBfloat16, HCCL_DATA_TYPE_BFP16);
SAME(kSend, HCCL_SEND);
SAME(kReceive, HCCL_RECV);
SAME(kDeterministic, HCCL_DETERMINISTIC);
static_assert(sizeof(ours::RootInfo) == sizeof(HcclRootInfo));
static_assert(sizeof(ours::ConfigValue) == sizeof(HcclConfigValue));
static_assert(sizeof(ours::Item) == sizeof(HcclSendRecvItem));
static_assert(offsetof(ours::Item, direction) == offsetof(HcclSendRecvItem, sendRecvType));
static_assert(offsetof(ours::Item, buffer) == offsetof(HcclSendRecvItem, buf));
static_assert(offsetof(ours::Item, count) == offsetof(HcclSendRecvItem, count));
static_assert(offsetof(ours::Item, type) == offsetof(HcclSendRecvItem, dataType));
static_assert(offsetof(ours::Item, peer) == offsetof(HcclSendRecvItem, remoteRank));
"""
)


@pytest.fixture(scope="module")
def headers() -> list[str]:
    """Return the compiler's options for folders of CANN's headers."""
    unpacked = os.environ.get(UNPACKED)
    if unpacked:
        root = Path(unpacked) / "torch_npu" / "include"
        folders = [root, root / "third_party/acl/inc", root / "third_party/hccl/inc"]
    else:
        folders = [Path(os.environ.get("ASCEND_HOME_PATH") or "/nowhere") / "include"]
    if not any((folder / "acl" / "acl.h").is_file() for folder in folders):
        pytest.skip(f"CANN is not installed, and {UNPACKED} is not set")
    return [f"-I{folder}" for folder in folders]


def find_errors(text: str, folder: Path, headers: list[str]) -> str:
    """Return the errors of C++ that includes CANN's headers."""
    return PROCESSES.compile_text(text, folder, "-fsyntax-only", *headers)


def test_functions_of_the_runtime_have_the_signatures_of_acl_h(
    headers: list[str], tmp_path: Path
) -> None:
    assert not find_errors(ACL, tmp_path, headers)


def test_functions_of_hccl_have_the_signatures_of_hccl_h(
    headers: list[str], tmp_path: Path
) -> None:
    assert not find_errors(HCCL, tmp_path, headers)


@pytest.mark.parametrize(
    ("declarations", "member", "symbol", "wrong"),
    [
        (ACL, "memory_allocate", "aclrtMalloc", "int (*)(void**, size_t)"),
        (ACL, "memory_allocate", "aclrtMalloc", "int (*)(void**, int, int)"),
        (ACL, "memory_allocate", "aclrtMalloc", "int (*)(size_t, size_t, int)"),
        (ACL, "memory_allocate", "aclrtMalloc", "int64_t (*)(void**, size_t, int)"),
        (HCCL, "batch", "HcclBatchSendRecv", "int (*)(void*, uint64_t, void*, void*)"),
        (HCCL, "root_info", "HcclGetRootInfo", "int (*)(void*, uint64_t)"),
    ],
)
def test_a_function_with_another_signature_is_detected(
    headers: list[str], tmp_path: Path, declarations: str, member: str, symbol: str, wrong: str
) -> None:
    text = f"{declarations}CHECK({member}, {symbol}, {wrong})"
    assert f"{symbol} differs" in find_errors(text, tmp_path, headers)


def test_another_constant_or_layout_is_detected(headers: list[str], tmp_path: Path) -> None:
    wrong = '\nSAME(kSum, HCCL_REDUCE_MAX);\nstatic_assert(sizeof(ours::Item) == 8, "layout");'
    errors = find_errors(HCCL + wrong, tmp_path, headers)
    assert "HCCL_REDUCE_MAX" in errors
    assert "layout" in errors
