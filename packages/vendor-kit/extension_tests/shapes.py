"""C++ that compiles only if the kit's declarations of a library match its header.

It follows an ``#include`` of that header and a definition of ``CHECK(member, symbol, type)``.
"""

from __future__ import annotations

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
