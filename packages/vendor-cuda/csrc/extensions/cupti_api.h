// The functions and records of CUPTI that the profiler uses, with the signatures and constants of
// cupti_activity.h, which tests compare. The records contain the members that all releases of CUPTI
// 13 have in common.
#ifndef DL_CUDA_EXTENSIONS_CUPTI_API_H_
#define DL_CUDA_EXTENSIONS_CUPTI_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/cuda_driver.h"
#include "extensions/companions.h"

namespace dl::cuda::cupti {

enum : int { kSuccess = 0 };
// Values of CUpti_ActivityKind.
enum : int { kCopy = 1, kSet = 2, kDriver = 4, kKernel = 10, kExternal = 39 };
// CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, and CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0.
constexpr uint32_t kFlushForced = 1;
constexpr int kOurCorrelation = 3;

struct Record {
  int kind;
};
struct KernelRecord {
  int kind;
  uint8_t cache, shared_config;
  uint16_t registers;
  int partitioned_cache[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
};
struct CopyRecord {
  int kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
};
struct SetRecord {
  int kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
};
struct ExternalRecord {
  int kind, external_kind;
  uint64_t id;
  uint32_t correlation, reserved;
};

using Requested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using Completed = void (*)(kit::cuda::Context, uint32_t stream, uint8_t* buffer, size_t size,
                           size_t valid);

// X(member name, symbol, type)
// clang-format off
#define DL_CUDA_CUPTI_FUNCTIONS(X)                                                                 \
  X(result_string, cuptiGetResultString, int (*)(int, const char**))                               \
  X(register_callbacks, cuptiActivityRegisterCallbacks, int (*)(cupti::Requested, cupti::Completed)) \
  X(enable, cuptiActivityEnable, int (*)(int))                                                     \
  X(disable, cuptiActivityDisable, int (*)(int))                                                   \
  X(flush, cuptiActivityFlushAll, int (*)(uint32_t))                                               \
  X(next, cuptiActivityGetNextRecord, int (*)(uint8_t*, size_t, cupti::Record**))                  \
  X(dropped, cuptiActivityGetNumDroppedRecords, int (*)(kit::cuda::Context, uint32_t, size_t*))    \
  X(push, cuptiActivityPushExternalCorrelationId, int (*)(int, uint64_t))                          \
  X(pop, cuptiActivityPopExternalCorrelationId, int (*)(int, uint64_t*))                           \
  X(timestamp, cuptiGetTimestamp, int (*)(uint64_t*))                                              \
  X(stream_id, cuptiGetStreamIdEx,                                                                 \
    int (*)(kit::cuda::Context, kit::cuda::Stream, uint8_t, uint32_t*))
// clang-format on

class Library : public kit::Library {
 public:
  Library() : kit::Library(cupti_companion().names(), "CUPTI", cupti_companion().remedy()) {}

#define DL_CUDA_CUPTI_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_CUDA_CUPTI_FUNCTIONS(DL_CUDA_CUPTI_MEMBER)
#undef DL_CUDA_CUPTI_MEMBER
};

}  // namespace dl::cuda::cupti

#endif  // DL_CUDA_EXTENSIONS_CUPTI_API_H_
