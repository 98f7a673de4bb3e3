// The functions of AMD's HIP runtime, libamdhip64.so, that a vendor needs which does not link it,
// each with the shape that hip_runtime_api.h gives it in ROCm 5 to 7 (tests compare the two).
// Nothing of ROCm is needed to compile against them.
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

// Of hipError_t.
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
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
};

// Of hipDeviceAttribute_t.
enum : Attribute {
  kComputeCapabilityMajor = 23,
  kComputeCapabilityMinor = 61,
  kMultiprocessorCount = 63,
  kWarpSize = 87,
};

// Of hipMemcpyKind.
enum : CopyKind { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

// The device is lost to this process: every later call fails alike.
constexpr bool is_sticky(Code code) {
  constexpr Code kIllegalAddress = 700, kLaunchTimeout = 702, kAssert = 710, kLaunchFailed = 719;
  return code == kIllegalAddress || code == kLaunchTimeout || code == kAssert ||
         code == kLaunchFailed;
}

// What can be done about an error, as the end of a sentence; empty where nobody knows.
inline const char* way_out(Code code) {
  if (is_sticky(code))
    return "; this kernel or an earlier one failed, and the process has to be started again "
           "(AMD_SERIALIZE_KERNEL=3 shows which one it is)";
  if (code == kNoBinaryForGpu || code == kInvalidImage)
    return "; this library has no code for the device, or code that its driver is too old for: "
           "install a build for it, or a later ROCm";
  return "";
}

// Where the name of a card's processor stands in the structure of its properties, which changed
// its layout in ROCm 6, and with it the name of the function.
struct PropertiesLayout {
  size_t bytes, architecture;
};
inline constexpr PropertiesLayout kProperties5{792, 396}, kProperties6{1472, 1160};

}  // namespace hip

// X(name of the member, symbol, type)
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
// clang-format on

class HipDriver : public Library {
 private:
  using Code = hip::Code;
  using Attribute = hip::Attribute;
  using CopyKind = hip::CopyKind;
  using Stream = hip::Stream;
  using Event = hip::Event;
  using Module = hip::Module;
  using Kernel = hip::Kernel;

 public:
  explicit HipDriver(std::vector<std::string> names) : Library(std::move(names)) {}

#define DL_KIT_HIP_DRIVER_MEMBER(member, symbol, ...) Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_KIT_HIP_DRIVER_FUNCTIONS(DL_KIT_HIP_DRIVER_MEMBER)
#undef DL_KIT_HIP_DRIVER_MEMBER

  // The first function that it lacks, null for none. Opens it.
  const char* missing() {
#define DL_KIT_HIP_DRIVER_CHECK(member, symbol, ...) \
  if (!member.available()) return member.name();
    DL_KIT_HIP_DRIVER_FUNCTIONS(DL_KIT_HIP_DRIVER_CHECK)
#undef DL_KIT_HIP_DRIVER_CHECK
    if (!properties5_.available() && !properties6_.available()) return properties6_.name();
    return nullptr;
  }

  // "gfx90a:sramecc+:xnack-": the processor of a card, and which of its features are on. Empty
  // after a failure.
  std::string architecture(int device) {
    // Longer than the structure of any release.
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
      // There is no driver that would know.
    }
    std::string said = name == nullptr ? "error" : name;
    said += " (" + std::to_string(code) + ")";
    return text == nullptr ? said : said + ": " + text;
  }

 private:
  Symbol<Code (*)(void*, int)> properties5_{*this, "hipGetDeviceProperties"};
  Symbol<Code (*)(void*, int)> properties6_{*this, "hipGetDevicePropertiesR0600"};
};

// What an error means to a host.
inline dl_code_t hip_driver_code(hip::Code code) {
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
