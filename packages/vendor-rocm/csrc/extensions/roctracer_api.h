// The functions and records of ROCTracer that the profiler uses, as declared in roctracer.h and
// ext/prof_protocol.h of ROCm 5 to 7. If these headers are installed, tests compare them with this.
#ifndef DL_ROCM_EXTENSIONS_ROCTRACER_API_H_
#define DL_ROCM_EXTENSIONS_ROCTRACER_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/symbols.h"
#include "library/companions.h"

namespace dl::rocm::roctracer {

enum : int { kSuccess = 0 };
// Values of activity_domain_t: device activity, HIP API calls, and external correlations.
enum : uint32_t { kDevices = 2, kCalls = 3, kExternal = 5 };
// Values of hip_op_id_t and activity_ext_op_t.
enum : uint32_t { kKernel = 0, kCopy = 1 };
enum : uint32_t { kExternalId = 1 };

struct Record {
  uint32_t domain, kind, op;
  uint64_t correlation;
  uint64_t start, end;  // nanoseconds
  union {
    struct {
      int device;  // HIP's device number
      uint64_t queue;
    };
    uint64_t external;
  };
  union {
    size_t bytes;
    const char* kernel;
  };
};

using Allocate = void (*)(char** memory, size_t bytes, void* argument);
using Completed = void (*)(const char* begin, const char* end, void* argument);

struct Properties {
  uint32_t mode;
  size_t buffer_bytes;
  Allocate allocate;  // null for ROCTracer's own allocator
  void* allocate_argument;
  Completed completed;
  void* completed_argument;
};

// X(member name, symbol, type)
// clang-format off
#define DL_ROCM_ROCTRACER_FUNCTIONS(X)                                                             \
  X(error_string, roctracer_error_string, const char* (*)())                                       \
  X(op_string, roctracer_op_string, const char* (*)(uint32_t, uint32_t, uint32_t))                 \
  X(set_properties, roctracer_set_properties, int (*)(uint32_t, void*))                            \
  X(open_pool, roctracer_open_pool_expl, int (*)(const roctracer::Properties*, void**))            \
  X(enable, roctracer_enable_domain_activity_expl, int (*)(uint32_t, void*))                       \
  X(disable, roctracer_disable_domain_activity, int (*)(uint32_t))                                 \
  X(flush, roctracer_flush_activity_expl, int (*)(void*))                                          \
  X(next, roctracer_next_record, int (*)(const roctracer::Record*, const roctracer::Record**))     \
  X(timestamp, roctracer_get_timestamp, int (*)(uint64_t*))                                        \
  X(push, roctracer_activity_push_external_correlation_id, int (*)(uint64_t))                      \
  X(pop, roctracer_activity_pop_external_correlation_id, int (*)(uint64_t*))
// clang-format on

class Library : public kit::Library {
 public:
  Library()
      : kit::Library(roctracer_companion().names(), "ROCTracer", roctracer_companion().remedy()) {}

#define DL_ROCM_ROCTRACER_MEMBER(member, symbol, ...) \
  kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ROCM_ROCTRACER_FUNCTIONS(DL_ROCM_ROCTRACER_MEMBER)
#undef DL_ROCM_ROCTRACER_MEMBER
};

}  // namespace dl::rocm::roctracer

#endif  // DL_ROCM_EXTENSIONS_ROCTRACER_API_H_
