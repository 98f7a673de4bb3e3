// The functions and constants of CANN's runtime, libascendcl.so, that this vendor uses, from CANN
// 8.1 on; tests compare them with the headers in torch_npu's wheel. Compiling does not need CANN.
#ifndef DL_ASCEND_RUNTIME_ACL_API_H_
#define DL_ASCEND_RUNTIME_ACL_API_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/symbols.h"

namespace dl::ascend::acl {

using Code = int;                           // aclError
using Stream = struct StreamObject*;        // aclrtStream
using Event = struct EventObject*;          // aclrtEvent
using Graph = struct GraphObject*;          // aclmdlRI
using Binary = struct BinaryObject*;        // aclrtBinHandle
using Function = struct FunctionObject*;    // aclrtFuncHandle
using Arguments = struct ArgumentsObject*;  // aclrtArgsHandle
using Argument = struct ArgumentObject*;    // aclrtParamHandle

// Values of aclError; kCodes in driver.cpp has the names of more of them.
enum : Code {
  kSuccess = 0,
  kRepeatedInitialize = 100002,
  kInvalidParameter = 107000,
  kInvalidDevice = 107001,
  kNoContext = 107002,
  kWrongContext = 107003,
  kUnaligned = 107008,
  kCaptureFirst = 107024,
  kUnjoined = 107025,
  kStreamCaptured = 107027,
  kEventCaptured = 107028,
  kNotCaptured = 107029,
  kCaptureUnsupported = 107030,
  kCaptureUnmatched = 107036,
  kArrayTooShort = 107039,
  kCaptureBlocks = 107041,
  kCaptureLast = 107046,
  kUnallocated = 200000,
  kUnsupported = 207000,
  kOutOfMemory = 207001,
  kNoDevice = 207004,
  kDeviceOutOfMemory = 207018,
  kStreamNotComplete = 507004,
  kEventNotComplete = 507006,
  kLostHeartbeat = 507010,
  kAicoreException = 507015,
  kSetupFailed = 507033,
  kDriverFailure = 507899,
  kCaptureInvalidated = 507903,
};

// Values of aclrtStreamStatus and aclrtEventRecordedStatus, which are opposite.
enum : int { kStreamComplete = 0, kStreamNotReady = 1 };
enum : int { kEventNotReady = 0, kEventComplete = 1 };

// Values of aclrtMemcpyKind.
enum : int { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

// Values of aclrtMemMallocPolicy, aclrtMemAttr, aclSysParamOpt and aclrtFloatOverflowMode.
constexpr int kHugeFirst = 0;
enum : int { kDdrMemory = 0, kHbmMemory = 1 };
constexpr int kDeterministic = 0;
constexpr int kInfNan = 1;
// Value of aclDeviceInfo: the number of AI cores.
constexpr int kAicoreCount = 0;
// Value of aclrtDevAttr: the architecture that the compiler knows, such as 2201.
constexpr int kNpuArchitecture = 601;

// aclrtBinaryLoadOptions, with the option that states the kind of code.
enum : int { kMagicOption = 2 };
constexpr uint32_t kAicoreMagic = 0x43554245;
struct BinaryOption {
  int type;
  union {
    uint32_t magic;
    uint32_t reserved[4];
  };
};
struct BinaryOptions {
  BinaryOption* options;
  size_t count;
};

// Flags of streams and events.
constexpr uint32_t kFastLaunch = 1, kFastSync = 2;
constexpr uint32_t kEventSync = 1, kEventTimeLine = 8;

// Values of aclmdlRICaptureMode and aclmdlRICaptureStatus.
constexpr int kCaptureRelaxed = 2;
enum : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureBroken = 2 };

// Copies on a device need source and destination aligned to this many bytes.
constexpr uintptr_t kCopyAlignment = 64;

// X(member name, symbol, type)
// clang-format off
#define DL_ASCEND_ACL_FUNCTIONS(X)                                                                 \
  X(init, aclInit, Code (*)(const char*))                                                          \
  X(take_error, aclGetRecentErrMsg, const char* (*)())                                             \
  X(soc_name, aclrtGetSocName, const char* (*)())                                                  \
  X(device_count, aclrtGetDeviceCount, Code (*)(uint32_t*))                                        \
  X(device_current, aclrtGetDevice, Code (*)(int32_t*))                                            \
  X(device_set, aclrtSetDevice, Code (*)(int32_t))                                                 \
  X(device_synchronize, aclrtSynchronizeDevice, Code (*)())                                        \
  X(memory_info, aclrtGetMemInfo, Code (*)(int, size_t*, size_t*))                                 \
  X(memory_allocate, aclrtMalloc, Code (*)(void**, size_t, int))                                   \
  X(memory_free, aclrtFree, Code (*)(void*))                                                       \
  X(host_allocate, aclrtMallocHost, Code (*)(void**, size_t))                                      \
  X(host_free, aclrtFreeHost, Code (*)(void*))                                                     \
  X(copy, aclrtMemcpyAsync, Code (*)(void*, size_t, const void*, size_t, int, Stream))             \
  X(set_bytes, aclrtMemsetAsync, Code (*)(void*, size_t, int32_t, size_t, Stream))                 \
  X(stream_create, aclrtCreateStreamWithConfig, Code (*)(Stream*, uint32_t, uint32_t))             \
  X(stream_destroy, aclrtDestroyStream, Code (*)(Stream))                                          \
  X(stream_synchronize, aclrtSynchronizeStream, Code (*)(Stream))                                  \
  X(stream_query, aclrtStreamQuery, Code (*)(Stream, int*))                                        \
  X(stream_wait_event, aclrtStreamWaitEvent, Code (*)(Stream, Event))                              \
  X(event_create, aclrtCreateEventExWithFlag, Code (*)(Event*, uint32_t))                          \
  X(event_destroy, aclrtDestroyEvent, Code (*)(Event))                                             \
  X(event_record, aclrtRecordEvent, Code (*)(Event, Stream))                                       \
  X(event_synchronize, aclrtSynchronizeEvent, Code (*)(Event))                                     \
  X(event_query, aclrtQueryEventStatus, Code (*)(Event, int*))                                     \
  X(event_elapsed, aclrtEventElapsedTime, Code (*)(float*, Event, Event))

// Functions that only some features need: a library without one still supports everything else.
#define DL_ASCEND_ACL_OPTIONAL_FUNCTIONS(X)                                                        \
  X(set_option, aclrtSetSysParamOpt, Code (*)(int, int64_t))                                       \
  X(set_overflow_mode, aclrtSetDeviceSatMode, Code (*)(int))                                       \
  X(device_capability, aclGetDeviceCapability, Code (*)(uint32_t, int, int64_t*))                  \
  X(capture_begin, aclmdlRICaptureBegin, Code (*)(Stream, int))                                    \
  X(capture_end, aclmdlRICaptureEnd, Code (*)(Stream, Graph*))                                     \
  X(capture_info, aclmdlRICaptureGetInfo, Code (*)(Stream, int*, Graph*))                          \
  X(graph_launch, aclmdlRIExecuteAsync, Code (*)(Graph, Stream))                                   \
  X(graph_destroy, aclmdlRIDestroy, Code (*)(Graph))                                               \
  X(graph_streams, aclmdlRIGetStreams, Code (*)(Graph, Stream*, uint32_t*))                        \
  X(stream_tasks, aclmdlRIGetTasksByStream, Code (*)(Stream, void**, uint32_t*))                  \
  X(device_attribute, aclrtGetDeviceInfo, Code (*)(uint32_t, int, int64_t*))                       \
  X(binary_load, aclrtBinaryLoadFromData,                                                          \
    Code (*)(const void*, size_t, const BinaryOptions*, Binary*))                                  \
  X(binary_unload, aclrtBinaryUnLoad, Code (*)(Binary))                                            \
  X(binary_function, aclrtBinaryGetFunction, Code (*)(Binary, const char*, Function*))             \
  X(arguments_begin, aclrtKernelArgsInit, Code (*)(Function, Arguments*))                          \
  X(arguments_append, aclrtKernelArgsAppend, Code (*)(Arguments, void*, size_t, Argument*))        \
  X(arguments_end, aclrtKernelArgsFinalize, Code (*)(Arguments))                                   \
  X(launch, aclrtLaunchKernelWithConfig,                                                           \
    Code (*)(Function, uint32_t, Stream, void*, Arguments, void*))
// clang-format on

class Driver : public kit::Library {
 public:
  explicit Driver(std::vector<std::string> names)
      : Library(std::move(names), "driver", "install CANN 8.1 or later and run its set_env.sh") {}

#define DL_ASCEND_ACL_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ASCEND_ACL_FUNCTIONS(DL_ASCEND_ACL_MEMBER)
  DL_ASCEND_ACL_OPTIONAL_FUNCTIONS(DL_ASCEND_ACL_MEMBER)
#undef DL_ASCEND_ACL_MEMBER

  // Returns the name of the first missing function, or null. Opens the library.
  const char* missing() {
#define DL_ASCEND_ACL_CHECK(member, symbol, ...) \
  if (!member.available()) return member.name();
    DL_ASCEND_ACL_FUNCTIONS(DL_ASCEND_ACL_CHECK)
#undef DL_ASCEND_ACL_CHECK
    return nullptr;
  }
};

}  // namespace dl::ascend::acl

#endif  // DL_ASCEND_RUNTIME_ACL_API_H_
