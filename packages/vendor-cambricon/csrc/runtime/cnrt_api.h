// The functions and constants of Cambricon's runtime, libcnrt.so, that this vendor uses. Compiling
// does not need the SDK.
#ifndef DL_CAMBRICON_RUNTIME_CNRT_API_H_
#define DL_CAMBRICON_RUNTIME_CNRT_API_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/symbols.h"

namespace dl::cambricon::cnrt {

using Code = int;                         // cnrtRet_t
using Queue = struct QueueObject*;        // cnrtQueue_t
using Notifier = struct NotifierObject*;  // cnrtNotifier_t

// Values of cnrtRet_t; cnrtGetErrorStr has the texts.
enum : Code {
  kSuccess = 0,
  kNotReady = 1,
  kInitFailed = 100002,
  kNoDevice = 100004,
  kInvalidDevice = 100005,
  kInvalidArgument = 100006,
  kSystemError = 100007,
  kHostOutOfMemory = 100010,
  kInvalidHandle = 100014,
  kOutOfMemory = 100100,
  kKernelTrap = 100132,
  kWrongDirection = 632013,
  kDriverCallFailed = 632015,
};

// Values of cnrtMemTransDir_t.
enum : int { kHostToDevice = 0, kDeviceToDevice = 1, kDeviceToHost = 2 };

// Values of cnrtDeviceAttr_t: kilobytes and megabytes where they are sizes.
enum : int {
  kClusterCount = 0x205,
  kCoresPerCluster = 0x206,
  kIsaVersion = 0x20a,
  kMajor = 0x01,
  kMinor = 0x02,
};

// Flags of notifiers.
constexpr unsigned kTiming = 0x0, kNoTiming = 0x4;

// X(member name, symbol, type)
// clang-format off
#define DL_CAMBRICON_CNRT_FUNCTIONS(X)                                                             \
  X(error_text, cnrtGetErrorStr, const char* (*)(Code))                                            \
  X(device_count, cnrtGetDeviceCount, Code (*)(unsigned*))                                         \
  X(device_current, cnrtGetDevice, Code (*)(int*))                                                 \
  X(device_set, cnrtSetDevice, Code (*)(int))                                                      \
  X(device_synchronize, cnrtSyncDevice, Code (*)())                                                \
  X(device_attribute, cnrtDeviceGetAttribute, Code (*)(int*, int, int))                            \
  X(memory_info, cnrtMemGetInfo, Code (*)(size_t*, size_t*))                                       \
  X(memory_allocate, cnrtMalloc, Code (*)(void**, size_t))                                         \
  X(memory_free, cnrtFree, Code (*)(void*))                                                        \
  X(host_allocate, cnrtHostMalloc, Code (*)(void**, size_t))                                       \
  X(host_free, cnrtFreeHost, Code (*)(void*))                                                      \
  X(copy, cnrtMemcpyAsync_V2, Code (*)(void*, void*, size_t, Queue, int))                          \
  X(set_bytes, cnrtMemsetAsync, Code (*)(void*, int, size_t, Queue))                               \
  X(queue_create, cnrtQueueCreateWithPriority, Code (*)(Queue*, unsigned, int))                    \
  X(queue_destroy, cnrtQueueDestroy, Code (*)(Queue))                                              \
  X(queue_synchronize, cnrtQueueSync, Code (*)(Queue))                                             \
  X(queue_query, cnrtQueueQuery, Code (*)(Queue))                                                  \
  X(queue_wait_notifier, cnrtQueueWaitNotifier, Code (*)(Notifier, Queue, unsigned))               \
  X(notifier_create, cnrtNotifierCreateWithFlags, Code (*)(Notifier*, unsigned))                   \
  X(notifier_destroy, cnrtNotifierDestroy, Code (*)(Notifier))                                     \
  X(notifier_place, cnrtPlaceNotifier, Code (*)(Notifier, Queue))                                  \
  X(notifier_wait, cnrtWaitNotifier, Code (*)(Notifier))                                           \
  X(notifier_query, cnrtQueryNotifier, Code (*)(Notifier))                                         \
  X(notifier_elapsed, cnrtNotifierElapsedTime, Code (*)(Notifier, Notifier, float*))
// clang-format on

class Driver : public kit::Library {
 public:
  explicit Driver(std::vector<std::string> names)
      : Library(std::move(names), "driver",
                "install the Cambricon Neuware SDK and set NEUWARE_HOME") {}

#define DL_CAMBRICON_CNRT_MEMBER(member, symbol, ...) \
  kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_CAMBRICON_CNRT_FUNCTIONS(DL_CAMBRICON_CNRT_MEMBER)
#undef DL_CAMBRICON_CNRT_MEMBER

  // Returns the name of the first missing function, or null. Opens the library.
  const char* missing() {
#define DL_CAMBRICON_CNRT_CHECK(member, symbol, ...) \
  if (!member.available()) return member.name();
    DL_CAMBRICON_CNRT_FUNCTIONS(DL_CAMBRICON_CNRT_CHECK)
#undef DL_CAMBRICON_CNRT_CHECK
    return nullptr;
  }
};

}  // namespace dl::cambricon::cnrt

#endif  // DL_CAMBRICON_RUNTIME_CNRT_API_H_
