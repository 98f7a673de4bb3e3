// The functions and constants of HCCL, CANN's library of collectives, that the communicator uses,
// from CANN 8.1 on; tests compare them with the headers in torch_npu's wheel.
#ifndef DL_ASCEND_EXTENSIONS_HCCL_API_H_
#define DL_ASCEND_EXTENSIONS_HCCL_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/symbols.h"
#include "extensions/companions.h"
#include "runtime/acl_api.h"

namespace dl::ascend::hccl {

using Communicator = struct CommunicatorObject*;  // HcclComm
using acl::Stream;

// HcclRootInfo: the identifier that all ranks share.
struct RootInfo {
  char bytes[4108];
};

// Values of HcclResult, HcclReduceOp and HcclDataType.
enum : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kNullPointer = 2,
  kInternal = 4,
  kUnsupported = 5,
  kTimeout = 9,
  kRemote = 21,
};
enum : int { kSum = 0, kProduct = 1, kMaximum = 2, kMinimum = 3 };
enum : int {
  kInt8 = 0,
  kInt16 = 1,
  kInt32 = 2,
  kFloat16 = 3,
  kFloat32 = 4,
  kInt64 = 5,
  kBfloat16 = 11,
};

// HcclSendRecvItem: one message of a batch.
enum : int { kSend = 0, kReceive = 1 };
struct Item {
  int direction;
  void* buffer;
  uint64_t count;
  int type;
  uint32_t peer;
};

// HcclConfig and HcclConfigValue.
constexpr int kDeterministic = 0;
union ConfigValue {
  int32_t value;
};

// X(member name, symbol, type)
// clang-format off
#define DL_ASCEND_HCCL_FUNCTIONS(X)                                                                \
  X(root_info, HcclGetRootInfo, int (*)(hccl::RootInfo*))                                          \
  X(init, HcclCommInitRootInfo,                                                                    \
    int (*)(uint32_t, const hccl::RootInfo*, uint32_t, hccl::Communicator*))                       \
  X(destroy, HcclCommDestroy, int (*)(hccl::Communicator))                                         \
  X(async_error, HcclGetCommAsyncError, int (*)(hccl::Communicator, int*))                         \
  X(error_string, HcclGetErrorString, const char* (*)(int))                                        \
  X(all_reduce, HcclAllReduce,                                                                     \
    int (*)(void*, void*, uint64_t, int, int, hccl::Communicator, acl::Stream))                    \
  X(reduce, HcclReduce,                                                                            \
    int (*)(void*, void*, uint64_t, int, int, uint32_t, hccl::Communicator, acl::Stream))          \
  X(broadcast, HcclBroadcast,                                                                      \
    int (*)(void*, uint64_t, int, uint32_t, hccl::Communicator, acl::Stream))                      \
  X(all_gather, HcclAllGather,                                                                     \
    int (*)(void*, void*, uint64_t, int, hccl::Communicator, acl::Stream))                         \
  X(reduce_scatter, HcclReduceScatter,                                                             \
    int (*)(void*, void*, uint64_t, int, int, hccl::Communicator, acl::Stream))                    \
  X(all_to_all, HcclAlltoAll,                                                                      \
    int (*)(const void*, uint64_t, int, const void*, uint64_t, int, hccl::Communicator,            \
            acl::Stream))                                                                          \
  X(batch, HcclBatchSendRecv,                                                                      \
    int (*)(hccl::Item*, uint32_t, hccl::Communicator, acl::Stream))

// Functions that a library may lack.
#define DL_ASCEND_HCCL_OPTIONAL_FUNCTIONS(X)                                                       \
  X(set_config, HcclSetConfig, int (*)(int, hccl::ConfigValue))                                    \
  X(suspend, HcclCommSuspend, int (*)(hccl::Communicator))
// clang-format on

class Library : public kit::Library {
 public:
  Library() : kit::Library(hccl_companion().names(), "HCCL", hccl_companion().remedy()) {}

#define DL_ASCEND_HCCL_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ASCEND_HCCL_FUNCTIONS(DL_ASCEND_HCCL_MEMBER)
  DL_ASCEND_HCCL_OPTIONAL_FUNCTIONS(DL_ASCEND_HCCL_MEMBER)
#undef DL_ASCEND_HCCL_MEMBER

  // Returns the name of the first missing function, or null. Opens the library.
  const char* missing() {
#define DL_ASCEND_HCCL_CHECK(member, symbol, ...) \
  if (!member.available()) return member.name();
    DL_ASCEND_HCCL_FUNCTIONS(DL_ASCEND_HCCL_CHECK)
#undef DL_ASCEND_HCCL_CHECK
    return nullptr;
  }
};

}  // namespace dl::ascend::hccl

#endif  // DL_ASCEND_EXTENSIONS_HCCL_API_H_
