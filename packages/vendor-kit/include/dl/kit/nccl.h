// The functions of NCCL, and of RCCL under the same names, that a communicator calls, with the
// signatures of nccl.h, which tests compare.
#ifndef DL_KIT_NCCL_H_
#define DL_KIT_NCCL_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/base.h"
#include "dl/kit/companion.h"
#include "dl/kit/symbols.h"

DL_KIT_BEGIN

namespace nccl {

using Communicator = struct CommunicatorObject*;

struct UniqueId {
  char bytes[128];
};

// ncclConfig_t of release 2.14. Later releases use their defaults for the missing fields.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  // Calls return immediately with "in progress": only then can we stop waiting for missing ranks.
  int blocking = 0;
};

// Values of ncclResult_t, ncclDataType_t and ncclRedOp_t.
enum : int { kSuccess = 0, kInvalidArgument = 4, kInvalidUsage = 5, kInProgress = 7 };
enum : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
};
enum : int { kSum = 0, kProduct = 1, kMaximum = 2, kMinimum = 3, kAverage = 4 };

}  // namespace nccl

// Streams are pointers of the driver. X(member name, symbol, type)
// clang-format off
#define DL_KIT_NCCL_FUNCTIONS(X)                                                                   \
  X(unique_id, ncclGetUniqueId, int (*)(nccl::UniqueId*))                                          \
  X(init, ncclCommInitRankConfig,                                                                  \
    int (*)(nccl::Communicator*, int, nccl::UniqueId, int, nccl::Config*))                         \
  X(finalize, ncclCommFinalize, int (*)(nccl::Communicator))                                       \
  X(destroy, ncclCommDestroy, int (*)(nccl::Communicator))                                         \
  X(abort, ncclCommAbort, int (*)(nccl::Communicator))                                             \
  X(async_error, ncclCommGetAsyncError, int (*)(nccl::Communicator, int*))                         \
  X(error_string, ncclGetErrorString, const char* (*)(int))                                        \
  X(last_error, ncclGetLastError, const char* (*)(nccl::Communicator))                             \
  X(group_start, ncclGroupStart, int (*)())                                                        \
  X(group_end, ncclGroupEnd, int (*)())                                                            \
  X(all_reduce, ncclAllReduce,                                                                     \
    int (*)(const void*, void*, size_t, int, int, nccl::Communicator, void*))                      \
  X(reduce, ncclReduce,                                                                            \
    int (*)(const void*, void*, size_t, int, int, int, nccl::Communicator, void*))                 \
  X(broadcast, ncclBroadcast,                                                                      \
    int (*)(const void*, void*, size_t, int, int, nccl::Communicator, void*))                      \
  X(all_gather, ncclAllGather,                                                                     \
    int (*)(const void*, void*, size_t, int, nccl::Communicator, void*))                           \
  X(reduce_scatter, ncclReduceScatter,                                                             \
    int (*)(const void*, void*, size_t, int, int, nccl::Communicator, void*))                      \
  X(send, ncclSend, int (*)(const void*, size_t, int, int, nccl::Communicator, void*))             \
  X(receive, ncclRecv, int (*)(void*, size_t, int, int, nccl::Communicator, void*))
// clang-format on

class Nccl : public Library {
 public:
  // `name` is used in messages: NCCL or RCCL.
  explicit Nccl(const Companion& companion, const char* name = "NCCL")
      : Library(companion.names(), name, companion.remedy()) {}

#define DL_KIT_NCCL_MEMBER(member, symbol, ...) Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_KIT_NCCL_FUNCTIONS(DL_KIT_NCCL_MEMBER)
#undef DL_KIT_NCCL_MEMBER
};

DL_KIT_END

#endif  // DL_KIT_NCCL_H_
