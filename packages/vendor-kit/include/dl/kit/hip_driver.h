// The functions of AMD's HIP runtime, libamdhip64.so, for a vendor that does not link it, with the
// signatures of hip_runtime_api.h in ROCm 5 to 7 (tests compare the two). Compiling against them
// does not need ROCm.
//
//   dl::kit::HipDriver driver({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
//   driver.init(0);
#ifndef DL_KIT_HIP_DRIVER_H_
#define DL_KIT_HIP_DRIVER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/captures.h"
#include "dl/kit/symbols.h"
#include "dl/status.h"

DL_KIT_BEGIN

namespace hip {

using Code = int;       // hipError_t
using Attribute = int;  // hipDeviceAttribute_t
using CopyKind = int;   // hipMemcpyKind
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Kernel = struct KernelObject*;  // hipFunction_t
using Graph = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using Executable = struct ExecutableObject*;  // hipGraphExec_t

// hipIpcMemHandle_t.
struct IpcHandle {
  char bytes[64];
};

// Values of hipError_t.
enum : Code {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kInsufficientDriver = 35,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kPeerUnsupported = 217,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kPeerEnabled = 704,
  kPeerNotEnabled = 705,
  kCaptureInvalidated = 901,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCapturedEvent = 907,
};

// Values of hipDeviceAttribute_t.
enum : Attribute {
  kComputeCapabilityMajor = 23,
  kMaxBlockX = 26,  // Y and Z follow
  kMaxGridX = 29,
  kMaxBlockThreads = 56,
  kMaxSharedBytes = 74,
  kComputeCapabilityMinor = 61,
  kMultiprocessorCount = 63,
  kWarpSize = 87,
};

// Values of hipMemcpyKind.
enum : CopyKind { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

// Values of hipFunction_attribute.
enum : int {
  kFunctionBlockThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionConstantBytes = 2,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
};

// hipIpcMemLazyEnablePeerAccess: ROCm 6 renumbered it, and each release accepts only its own
// number.
constexpr unsigned kIpcLazyPeerAccess5 = 0, kIpcLazyPeerAccess6 = 1;

using ::dl::kit::kCaptureRelaxed;
using ::dl::kit::kCaptureUnsupported;
using ::dl::kit::kCaptureWrongThread;

// Returns true if the process has lost the device: every later call fails with the same error.
constexpr bool is_sticky(Code code) {
  constexpr Code kIllegalAddress = 700, kLaunchTimeout = 702, kAssert = 710, kLaunchFailed = 719;
  return code == kIllegalAddress || code == kLaunchTimeout || code == kAssert ||
         code == kLaunchFailed;
}

// The remedy for an error, as the end of a sentence; empty if unknown.
inline const char* remedy(Code code) {
  if (is_sticky(code))
    return "; this kernel or an earlier one failed, and the process must be restarted "
           "(AMD_SERIALIZE_KERNEL=3 shows which one)";
  if (code == kNoBinaryForGpu || code == kInvalidImage)
    return "; this library has no code for the device, or its code is too new for the driver: "
           "install a build for the device, or a later ROCm";
  return capture_remedy(code);
}

// Offset of the GPU architecture's name in hipDeviceProp_t. ROCm 6 changed the struct's layout and
// renamed the function that fills it.
struct PropertiesLayout {
  size_t bytes, architecture;
};
inline constexpr PropertiesLayout kProperties5{792, 396}, kProperties6{1472, 1160};

}  // namespace hip

// X(member name, symbol, type)
// clang-format off
#define DL_KIT_HIP_DRIVER_FUNCTIONS(X)                                                             \
  X(init, hipInit, Code (*)(unsigned))                                                             \
  X(driver_version, hipRuntimeGetVersion, Code (*)(int*))                                          \
  X(error_name, hipGetErrorName, const char* (*)(Code))                                            \
  X(error_string, hipGetErrorString, const char* (*)(Code))                                        \
  X(take_last_error, hipGetLastError, Code (*)())                                                  \
  X(device_count, hipGetDeviceCount, Code (*)(int*))                                               \
  X(device_current, hipGetDevice, Code (*)(int*))                                                  \
  X(device_set, hipSetDevice, Code (*)(int))                                                       \
  X(device_synchronize, hipDeviceSynchronize, Code (*)())                                          \
  X(device_name, hipDeviceGetName, Code (*)(char*, int, int))                                      \
  X(device_total_memory, hipDeviceTotalMem, Code (*)(size_t*, int))                                \
  X(device_attribute, hipDeviceGetAttribute, Code (*)(int*, Attribute, int))                       \
  X(memory_info, hipMemGetInfo, Code (*)(size_t*, size_t*))                                        \
  X(memory_allocate, hipMalloc, Code (*)(void**, size_t))                                          \
  X(memory_free, hipFree, Code (*)(void*))                                                         \
  X(host_allocate, hipHostMalloc, Code (*)(void**, size_t, unsigned))                              \
  X(host_free, hipHostFree, Code (*)(void*))                                                       \
  X(copy, hipMemcpyAsync, Code (*)(void*, const void*, size_t, CopyKind, Stream))                  \
  X(set_bytes, hipMemsetAsync, Code (*)(void*, int, size_t, Stream))                               \
  X(stream_create, hipStreamCreateWithPriority, Code (*)(Stream*, unsigned, int))                  \
  X(stream_destroy, hipStreamDestroy, Code (*)(Stream))                                            \
  X(stream_synchronize, hipStreamSynchronize, Code (*)(Stream))                                    \
  X(stream_query, hipStreamQuery, Code (*)(Stream))                                                \
  X(stream_wait_event, hipStreamWaitEvent, Code (*)(Stream, Event, unsigned))                      \
  X(event_create, hipEventCreateWithFlags, Code (*)(Event*, unsigned))                             \
  X(event_destroy, hipEventDestroy, Code (*)(Event))                                               \
  X(event_record, hipEventRecord, Code (*)(Event, Stream))                                         \
  X(event_synchronize, hipEventSynchronize, Code (*)(Event))                                       \
  X(event_query, hipEventQuery, Code (*)(Event))                                                   \
  X(event_elapsed, hipEventElapsedTime, Code (*)(float*, Event, Event))                            \
  X(module_load, hipModuleLoadData, Code (*)(Module*, const void*))                                \
  X(module_kernel, hipModuleGetFunction, Code (*)(Kernel*, Module, const char*))                   \
  X(launch, hipModuleLaunchKernel,                                                                 \
    Code (*)(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
             void**, void**))

// Functions called by extensions of the contract. A driver that lacks such a function still supports
// everything else.
#define DL_KIT_HIP_EXTENSION_FUNCTIONS(X)                                                          \
  X(capture_begin, hipStreamBeginCapture, Code (*)(Stream, int))                                   \
  X(capture_end, hipStreamEndCapture, Code (*)(Stream, Graph*))                                    \
  X(capture_status, hipStreamIsCapturing, Code (*)(Stream, int*))                                  \
  X(graph_nodes, hipGraphGetNodes, Code (*)(Graph, GraphNode*, size_t*))                           \
  X(graph_instantiate, hipGraphInstantiateWithFlags,                                               \
    Code (*)(Executable*, Graph, unsigned long long))                                              \
  X(graph_launch, hipGraphLaunch, Code (*)(Executable, Stream))                                    \
  X(graph_destroy, hipGraphDestroy, Code (*)(Graph))                                               \
  X(executable_destroy, hipGraphExecDestroy, Code (*)(Executable))                                 \
  X(can_access, hipDeviceCanAccessPeer, Code (*)(int*, int, int))                                  \
  X(enable_access, hipDeviceEnablePeerAccess, Code (*)(int, unsigned))                             \
  X(disable_access, hipDeviceDisablePeerAccess, Code (*)(int))                                     \
  X(copy_to_peer, hipMemcpyPeerAsync, Code (*)(void*, int, const void*, int, size_t, Stream))      \
  X(memory_range, hipMemGetAddressRange, Code (*)(void**, size_t*, void*))                         \
  X(ipc_export, hipIpcGetMemHandle, Code (*)(IpcHandle*, void*))                                   \
  X(ipc_open, hipIpcOpenMemHandle, Code (*)(void**, IpcHandle, unsigned))                          \
  X(ipc_close, hipIpcCloseMemHandle, Code (*)(void*))                                              \
  X(image_unload, hipModuleUnload, Code (*)(Module))                                               \
  X(image_function, hipModuleGetFunction, Code (*)(Kernel*, Module, const char*))                  \
  X(function_attribute, hipFuncGetAttribute, Code (*)(int*, int, Kernel))
// clang-format on

class HipDriver : public Library {
 public:
  using Code = hip::Code;
  using Attribute = hip::Attribute;
  using CopyKind = hip::CopyKind;
  using Stream = hip::Stream;
  using Event = hip::Event;
  using Module = hip::Module;
  using Kernel = hip::Kernel;
  using Image = hip::Module;
  using Graph = hip::Graph;
  using GraphNode = hip::GraphNode;
  using Executable = hip::Executable;
  using IpcHandle = hip::IpcHandle;

  explicit HipDriver(std::vector<std::string> names) : Library(std::move(names)) {}

#define DL_KIT_HIP_DRIVER_MEMBER(member, symbol, ...) Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_KIT_HIP_DRIVER_FUNCTIONS(DL_KIT_HIP_DRIVER_MEMBER)
  DL_KIT_HIP_EXTENSION_FUNCTIONS(DL_KIT_HIP_DRIVER_MEMBER)
#undef DL_KIT_HIP_DRIVER_MEMBER

  // Returns the name of the first missing function, or null. Opens the driver.
  const char* missing() {
#define DL_KIT_HIP_DRIVER_CHECK(member, symbol, ...) \
  if (!member.available()) return member.name();
    DL_KIT_HIP_DRIVER_FUNCTIONS(DL_KIT_HIP_DRIVER_CHECK)
#undef DL_KIT_HIP_DRIVER_CHECK
    if (!properties5_.available() && !properties6_.available()) return properties6_.name();
    return nullptr;
  }

  // The GPU's architecture and its enabled features, such as "gfx90a:sramecc+:xnack-". Empty after
  // a failure.
  std::string architecture(int device) {
    // Larger than the struct of any release.
    std::vector<char> properties(8192);
    const bool is_later = properties6_.available();
    const hip::PropertiesLayout& layout = is_later ? hip::kProperties6 : hip::kProperties5;
    const auto& get = is_later ? properties6_ : properties5_;
    if (get(properties.data(), device) != hip::kSuccess) return {};
    properties[layout.architecture + 255] = '\0';
    return properties.data() + layout.architecture;
  }

  // "hipErrorOutOfMemory (2): out of memory".
  std::string describe(Code code) {
    const char *name = nullptr, *text = nullptr;
    try {
      name = error_name(code);
      text = error_string(code);
    } catch (const Error&) {
      // No driver is available to ask for the name.
    }
    std::string message = name == nullptr ? "error" : name;
    message += " (" + std::to_string(code) + ")";
    return text == nullptr ? message : message + ": " + text;
  }

 private:
  Symbol<Code (*)(void*, int)> properties5_{*this, "hipGetDeviceProperties"};
  Symbol<Code (*)(void*, int)> properties6_{*this, "hipGetDevicePropertiesR0600"};
};

// Maps a driver error to a code of the contract.
inline dl_code_t hip_driver_code(hip::Code code) {
  if (is_capture_error(code)) return DL_INVALID_ARGUMENT;
  switch (code) {
    case hip::kSuccess:
      return DL_OK;
    case hip::kOutOfMemory:
      return DL_OUT_OF_MEMORY;
    case hip::kNotReady:
      return DL_NOT_READY;
    case hip::kNoDevice:
    case hip::kInsufficientDriver:
      return DL_UNAVAILABLE;
    default:
      return DL_ERROR;
  }
}

DL_KIT_END

#endif  // DL_KIT_HIP_DRIVER_H_
