// A libcuda.so.1 for tests of error handling: device memory is host memory, streams are always
// idle, and kernels are recorded but not run. Environment variables configure it:
//
//   FAKE_CUDA_DEVICES=1        number of devices; 0 gives CUDA_ERROR_NO_DEVICE
//   FAKE_CUDA_VERSION=13000    CUDA version that the driver supports
//   FAKE_CUDA_CAPABILITY=80    of every device; "61,80" for the first and the second
//   FAKE_CUDA_MEMORY=1024      MiB of each device
//   FAKE_CUDA_FAIL=cuLaunchKernel:700,cuInit:999   functions that fail, with the error;
//                              from 700 on, all later calls fail with the same error,
//                              as on a lost device
//   FAKE_CUDA_CALLS=path       log file with one line per call
//
// Compiled with -DOLD, it lacks cuLibraryLoadData, like drivers before CUDA 12.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "../common/settings.h"
#include "dl/kit/cuda_driver.h"

using namespace dl::kit::cuda;
using namespace fake_driver;

struct dl::kit::cuda::ContextObject {
  int device;
};

namespace {

constexpr int kMaxDevices = 8;
ContextObject contexts[kMaxDevices];
thread_local Context current = nullptr;
std::mutex mutex;
std::map<Address, size_t> blocks;
size_t used[kMaxDevices];

int device_count() { return int_setting("FAKE_CUDA_DEVICES", "1"); }

int capability(Device device) {
  return std::atoi(item_of(setting("FAKE_CUDA_CAPABILITY", "80"), device).c_str());
}

// Logs a call and returns the error that is injected into it; 0 for none.
Code enter(const char* function) {
  static Calls calls("FAKE_CUDA_FAIL", "FAKE_CUDA_CALLS");
  return calls.enter(function);
}

// Like enter, for functions that need a context.
Code enter_with_context(const char* function) {
  constexpr Code kInvalidContext = 201;
  const Code code = enter(function);
  return code == kSuccess && current == nullptr ? kInvalidContext : code;
}

}  // namespace

// Exported explicitly, because their argument types belong to the kit and are hidden.
#define FAKE __attribute__((visibility("default")))
#define ENTER(function) \
  if (const Code failed = enter(#function)) return failed
#define ENTER_WITH_CONTEXT(function) \
  if (const Code failed = enter_with_context(#function)) return failed

extern "C" {

FAKE Code cuInit(unsigned) {
  ENTER(cuInit);
  return device_count() > 0 ? kSuccess : kNoDevice;
}
FAKE Code cuDriverGetVersion(int* version) {
  *version = int_setting("FAKE_CUDA_VERSION", "13000");
  return kSuccess;
}
FAKE Code cuGetErrorName(Code code, const char** name) {
  *name = code == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return kSuccess;
}
FAKE Code cuGetErrorString(Code code, const char** text) {
  *text = code == kOutOfMemory ? "out of memory" : "an injected failure";
  return kSuccess;
}

FAKE Code cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount);
  *count = device_count();
  return kSuccess;
}
FAKE Code cuDeviceGet(Device* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}
FAKE Code cuDeviceGetName(char* name, int size, Device device) {
  std::snprintf(name, static_cast<size_t>(size), "Fake %d", device);
  return kSuccess;
}
FAKE Code cuDeviceTotalMem_v2(size_t* bytes, Device) {
  *bytes = static_cast<size_t>(int_setting("FAKE_CUDA_MEMORY", "1024")) << 20;
  return kSuccess;
}
FAKE Code cuDeviceGetAttribute(int* value, Attribute attribute, Device device) {
  *value = attribute == kWarpSize ? 32 : 4;
  if (attribute == kComputeCapabilityMajor) *value = capability(device) / 10;
  if (attribute == kComputeCapabilityMinor) *value = capability(device) % 10;
  return kSuccess;
}
FAKE Code cuDevicePrimaryCtxRetain(Context* context, Device device) {
  ENTER(cuDevicePrimaryCtxRetain);
  contexts[device].device = device;
  *context = &contexts[device];
  return kSuccess;
}
FAKE Code cuCtxGetCurrent(Context* context) {
  *context = current;
  return kSuccess;
}
FAKE Code cuCtxGetDevice(Device* device) {
  ENTER(cuCtxGetDevice);
  *device = 0;
  return kSuccess;
}
FAKE Code cuCtxSetCurrent(Context context) {
  ENTER(cuCtxSetCurrent);
  current = context;
  return kSuccess;
}
FAKE Code cuCtxSynchronize() {
  ENTER_WITH_CONTEXT(cuCtxSynchronize);
  return kSuccess;
}

FAKE Code cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  ENTER_WITH_CONTEXT(cuMemGetInfo);
  cuDeviceTotalMem_v2(total, current->device);
  *free_bytes = *total - used[current->device];
  return kSuccess;
}
FAKE Code cuMemAlloc_v2(Address* memory, size_t bytes) {
  ENTER_WITH_CONTEXT(cuMemAlloc);
  size_t total = 0;
  cuDeviceTotalMem_v2(&total, current->device);
  const std::lock_guard<std::mutex> lock(mutex);
  if (bytes > total - used[current->device]) return kOutOfMemory;
  used[current->device] += bytes;
  *memory = address_of(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  blocks[*memory] = bytes;
  return kSuccess;
}
FAKE Code cuMemFree_v2(Address memory) {
  ENTER_WITH_CONTEXT(cuMemFree);
  const std::lock_guard<std::mutex> lock(mutex);
  used[current->device] -= blocks[memory];
  blocks.erase(memory);
  std::free(reinterpret_cast<void*>(memory));
  return kSuccess;
}
FAKE Code cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  ENTER_WITH_CONTEXT(cuMemHostAlloc);
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
FAKE Code cuMemFreeHost(void* memory) {
  ENTER(cuMemFreeHost);
  std::free(memory);
  return kSuccess;
}
FAKE Code cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream) {
  ENTER_WITH_CONTEXT(cuMemcpyHtoDAsync);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
FAKE Code cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Stream) {
  ENTER_WITH_CONTEXT(cuMemcpyDtoHAsync);
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return kSuccess;
}
FAKE Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream) {
  ENTER_WITH_CONTEXT(cuMemcpyDtoDAsync);
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return kSuccess;
}
FAKE Code cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Stream) {
  ENTER_WITH_CONTEXT(cuMemsetD8Async);
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return kSuccess;
}

// Streams and events are numbers, because all work completes immediately.
FAKE Code cuStreamCreateWithPriority(Stream* stream, unsigned, int) {
  ENTER_WITH_CONTEXT(cuStreamCreateWithPriority);
  static uintptr_t next = 16;
  *stream = reinterpret_cast<Stream>(next += 16);
  return kSuccess;
}
FAKE Code cuStreamDestroy_v2(Stream) { return kSuccess; }
FAKE Code cuStreamSynchronize(Stream) {
  ENTER_WITH_CONTEXT(cuStreamSynchronize);
  return kSuccess;
}
FAKE Code cuStreamQuery(Stream) {
  ENTER_WITH_CONTEXT(cuStreamQuery);
  return kSuccess;
}
FAKE Code cuStreamWaitEvent(Stream, Event, unsigned) { return kSuccess; }
FAKE Code cuEventCreate(Event* event, unsigned) {
  ENTER_WITH_CONTEXT(cuEventCreate);
  static uintptr_t next = 16;
  *event = reinterpret_cast<Event>(next += 16);
  return kSuccess;
}
FAKE Code cuEventDestroy_v2(Event) { return kSuccess; }
FAKE Code cuEventRecord(Event, Stream) {
  ENTER_WITH_CONTEXT(cuEventRecord);
  return kSuccess;
}
FAKE Code cuEventSynchronize(Event) {
  ENTER_WITH_CONTEXT(cuEventSynchronize);
  return kSuccess;
}
FAKE Code cuEventQuery(Event) { return kSuccess; }
FAKE Code cuEventElapsedTime(float* milliseconds, Event, Event) {
  *milliseconds = 0;
  return kSuccess;
}

#ifndef OLD
FAKE Code cuLibraryLoadData(Module* module, const void* code, int*, void**, unsigned, int*, void**,
                            unsigned) {
  ENTER(cuLibraryLoadData);
  *module = reinterpret_cast<Module>(const_cast<void*>(code));
  return kSuccess;
}
#endif
FAKE Code cuLibraryUnload(Module) {
  ENTER(cuLibraryUnload);
  return kSuccess;
}
FAKE Code cuLibraryGetKernel(Kernel* kernel, Module, const char* name) {
  ENTER(cuLibraryGetKernel);
  *kernel = reinterpret_cast<Kernel>(const_cast<char*>(name));
  return kSuccess;
}
FAKE Code cuKernelGetAttribute(int* value, int which, Kernel, Device) {
  ENTER(cuKernelGetAttribute);
  *value = which == kFunctionPtxVersion ? 75 : 90;
  return kSuccess;
}
FAKE Code cuLaunchKernel(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Stream, void**, void**) {
  ENTER_WITH_CONTEXT(cuLaunchKernel);
  return kSuccess;
}

}  // extern "C"
