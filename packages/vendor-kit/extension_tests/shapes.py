"""C++ that compiles only if our declarations of a library match its header.

The text must follow an ``#include`` of that header and a definition of ``CHECK(member, symbol,
type)``.
"""

from __future__ import annotations

import re

NCCL = """
#include "dl/kit/nccl.h"
namespace dl::kit {
DL_KIT_NCCL_FUNCTIONS(CHECK)
}
namespace ours = dl::kit::nccl;
static_assert(sizeof(ours::UniqueId) == sizeof(ncclUniqueId));
static_assert(ours::Config{}.magic == NCCL_API_MAGIC);
static_assert(offsetof(ours::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(ours::Config, blocking) == offsetof(ncclConfig_t, blocking));
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, ncclSuccess);
SAME(kInvalidArgument, ncclInvalidArgument);
SAME(kInvalidUsage, ncclInvalidUsage);
SAME(kInProgress, ncclInProgress);
SAME(kInt8, ncclInt8);
SAME(kUint8, ncclUint8);
SAME(kInt32, ncclInt32);
SAME(kUint32, ncclUint32);
SAME(kInt64, ncclInt64);
SAME(kUint64, ncclUint64);
SAME(kFloat16, ncclFloat16);
SAME(kFloat32, ncclFloat32);
SAME(kFloat64, ncclFloat64);
SAME(kBfloat16, ncclBfloat16);
SAME(kSum, ncclSum);
SAME(kProduct, ncclProd);
SAME(kMaximum, ncclMax);
SAME(kMinimum, ncclMin);
SAME(kAverage, ncclAvg);
"""
"""Checks of NCCL and RCCL."""


def blaslt(library: str, namespace: str) -> str:
    """Return C++ that compares the header of cuBLASLt (``"cublas"``) or hipBLASLt (``"hipblas"``)
    with the declarations of the kit and with the ``Constants`` of a vendor's ``namespace``."""
    names = {"$Lt": f"{library}Lt", "$LT": f"{library.upper()}LT", "$BLAS": library.upper()}
    names |= {"$DATA": "CUDA" if library == "cublas" else "HIP", "$namespace": namespace}
    return re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], BLASLT)


BLASLT = """
using ours = $namespace::blaslt::Constants;
DL_KIT_BLASLT_FUNCTIONS(CHECK, $Lt, ours::kAlgorithmBytes)
using Algorithm = dl::kit::blaslt::Algorithm<ours::kAlgorithmBytes>;
using Heuristic = dl::kit::blaslt::Heuristic<ours::kAlgorithmBytes>;
static_assert(sizeof(Algorithm) == sizeof($LtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof($LtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspace) ==
              offsetof($LtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, state) == offsetof($LtMatmulHeuristicResult_t, state));
#define SAME(a, b) static_assert(int(ours::a) == int(b), #b)
SAME(kSuccess, $BLAS_STATUS_SUCCESS);
SAME(kFloat32, $DATA_R_32F);
SAME(kFloat64, $DATA_R_64F);
SAME(kFloat16, $DATA_R_16F);
SAME(kBfloat16, $DATA_R_16BF);
SAME(kComputeFloat32, $BLAS_COMPUTE_32F);
SAME(kComputeFloat64, $BLAS_COMPUTE_64F);
SAME(kComputeTf32, $BLAS_COMPUTE_32F_FAST_TF32);
SAME(kNotTransposed, $BLAS_OP_N);
SAME(kTransposed, $BLAS_OP_T);
SAME(kEpilogueBias, $LT_EPILOGUE_BIAS);
SAME(kTransposeA, $LT_MATMUL_DESC_TRANSA);
SAME(kTransposeB, $LT_MATMUL_DESC_TRANSB);
SAME(kEpilogue, $LT_MATMUL_DESC_EPILOGUE);
SAME(kBiasPointer, $LT_MATMUL_DESC_BIAS_POINTER);
SAME(kBiasType, $LT_MATMUL_DESC_BIAS_DATA_TYPE);
SAME(kBatchCount, $LT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(kBatchOffset, $LT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(kMaxWorkspace, $LT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
"""
