// The functions and records of MSPTI, CANN's tracing library, that the profiler uses, as
// mspti_activity.h of MindStudio declares them.
#ifndef DL_ASCEND_EXTENSIONS_MSPTI_API_H_
#define DL_ASCEND_EXTENSIONS_MSPTI_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/symbols.h"
#include "extensions/companions.h"

namespace dl::ascend::mspti {

using Subscriber = struct SubscriberObject*;

enum : int { kSuccess = 0 };
// Values of msptiActivityKind and msptiExternalCorrelationKind.
enum : int { kKernel = 2, kCalls = 3, kSet = 6, kCopy = 7, kExternal = 8 };
constexpr int kOurCorrelation = 2;
// Values of msptiActivityMemcpyKind.
enum : int { kHostToDevice = 2, kDeviceToHost = 3, kDeviceToDevice = 4 };

// Records are packed and have sizes that are multiples of 8 bytes. Times are in nanoseconds.
struct Record {
  int kind;
} __attribute__((packed, aligned(8)));
struct KernelRecord {
  int kind;
  uint64_t start, end;
  uint32_t device, stream;
  uint64_t correlation;
  const char* type;
  const char* name;
} __attribute__((packed, aligned(8)));
struct SetRecord {
  int kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t device, stream;
  uint64_t correlation;
  uint8_t is_async;
} __attribute__((packed, aligned(8)));
struct CopyRecord {
  int kind, copy_kind;
  uint64_t bytes, start, end;
  uint32_t device, stream;
  uint64_t correlation;
  uint8_t is_async;
} __attribute__((packed, aligned(8)));
struct ExternalRecord {
  int kind, external_kind;
  uint64_t id, correlation;
} __attribute__((packed, aligned(8)));

using Requested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using Completed = void (*)(uint8_t* buffer, size_t size, size_t valid);

// X(member name, symbol, type)
// clang-format off
#define DL_ASCEND_MSPTI_FUNCTIONS(X)                                                               \
  X(subscribe, msptiSubscribe, int (*)(mspti::Subscriber*, void (*)(), void*))                     \
  X(register_callbacks, msptiActivityRegisterCallbacks,                                            \
    int (*)(mspti::Requested, mspti::Completed))                                                   \
  X(enable, msptiActivityEnable, int (*)(int))                                                     \
  X(disable, msptiActivityDisable, int (*)(int))                                                   \
  X(flush, msptiActivityFlushAll, int (*)(uint32_t))                                               \
  X(next, msptiActivityGetNextRecord, int (*)(uint8_t*, size_t, mspti::Record**))                  \
  X(push, msptiActivityPushExternalCorrelationId, int (*)(int, uint64_t))                          \
  X(pop, msptiActivityPopExternalCorrelationId, int (*)(int, uint64_t*))

// A function that releases before 2026 lack: they take times from the system's clock.
#define DL_ASCEND_MSPTI_OPTIONAL_FUNCTIONS(X)                                                      \
  X(timestamp, msptiGetTimestamp, int (*)(uint64_t*))
// clang-format on

class Library : public kit::Library {
 public:
  Library() : kit::Library(mspti_companion().names(), "MSPTI", mspti_companion().remedy()) {}

#define DL_ASCEND_MSPTI_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ASCEND_MSPTI_FUNCTIONS(DL_ASCEND_MSPTI_MEMBER)
  DL_ASCEND_MSPTI_OPTIONAL_FUNCTIONS(DL_ASCEND_MSPTI_MEMBER)
#undef DL_ASCEND_MSPTI_MEMBER
};

}  // namespace dl::ascend::mspti

#endif  // DL_ASCEND_EXTENSIONS_MSPTI_API_H_
