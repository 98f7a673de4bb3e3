// A libcuda.so.1 for tests of what goes wrong: cards whose memory is the host's, streams that are
// always finished, kernels that are counted and never run. What it is like stands in variables:
//
//   FAKE_CUDA_CARDS=1        how many there are; none is CUDA_ERROR_NO_DEVICE
//   FAKE_CUDA_VERSION=13000  what the driver serves
//   FAKE_CUDA_CAPABILITY=80  of every card; "61,80" of the first and the second
//   FAKE_CUDA_MEMORY=1024    MiB of each card
//   FAKE_CUDA_FAIL=cuLaunchKernel:700,cuInit:999   functions that fail, and how; from 700 on, all
//                            that follow fail alike, as on a card that is lost
//   FAKE_CUDA_CALLS=path     a file that gets a line for every call
//
// Compiled with -DOLD it has no cuLibraryLoadData, as drivers before CUDA 12.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "../card/settings.h"
#include "dl/kit/cuda_driver.h"

using namespace dl::kit::cuda;
using namespace card;

struct dl::kit::cuda::ContextObject {
  int card;
};

namespace {

constexpr int kMostCards = 8;
ContextObject contexts[kMostCards];
thread_local Context current = nullptr;
std::mutex mutex;
std::map<Address, size_t> blocks;
size_t used[kMostCards];

int cards() { return number("FAKE_CUDA_CARDS", "1"); }

int capability(Device card) {
  return std::atoi(item_of(setting("FAKE_CUDA_CAPABILITY", "80"), card).c_str());
}

// What a call has to return before it does anything.
Code enter(const char* function) {
  static Calls calls("FAKE_CUDA_FAIL", "FAKE_CUDA_CALLS");
  return calls.enter(function);
}

// As enter, for functions that need a context.
Code enter_card(const char* function) {
  constexpr Code kInvalidContext = 201;
  const Code code = enter(function);
  return code == kSuccess && current == nullptr ? kInvalidContext : code;
}

}  // namespace

// Their arguments have types of the kit, which is hidden.
#define FAKE __attribute__((visibility("default")))
#define ENTER(function) \
  if (const Code failed = enter(#function)) return failed
#define ENTER_CARD(function) \
  if (const Code failed = enter_card(#function)) return failed

extern "C" {

FAKE Code cuInit(unsigned) {
  ENTER(cuInit);
  return cards() > 0 ? kSuccess : kNoDevice;
}
FAKE Code cuDriverGetVersion(int* version) {
  *version = number("FAKE_CUDA_VERSION", "13000");
  return kSuccess;
}
FAKE Code cuGetErrorName(Code code, const char** name) {
  *name = code == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return kSuccess;
}
FAKE Code cuGetErrorString(Code code, const char** text) {
  *text = code == kOutOfMemory ? "out of memory" : "the fake was told to fail";
  return kSuccess;
}

FAKE Code cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount);
  *count = cards();
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
  *bytes = static_cast<size_t>(number("FAKE_CUDA_MEMORY", "1024")) << 20;
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
  contexts[device].card = device;
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
  ENTER_CARD(cuCtxSynchronize);
  return kSuccess;
}

FAKE Code cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  ENTER_CARD(cuMemGetInfo);
  cuDeviceTotalMem_v2(total, current->card);
  *free_bytes = *total - used[current->card];
  return kSuccess;
}
FAKE Code cuMemAlloc_v2(Address* memory, size_t bytes) {
  ENTER_CARD(cuMemAlloc);
  size_t total = 0;
  cuDeviceTotalMem_v2(&total, current->card);
  const std::lock_guard<std::mutex> lock(mutex);
  if (bytes > total - used[current->card]) return kOutOfMemory;
  used[current->card] += bytes;
  *memory = address_of(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  blocks[*memory] = bytes;
  return kSuccess;
}
FAKE Code cuMemFree_v2(Address memory) {
  ENTER_CARD(cuMemFree);
  const std::lock_guard<std::mutex> lock(mutex);
  used[current->card] -= blocks[memory];
  blocks.erase(memory);
  std::free(reinterpret_cast<void*>(memory));
  return kSuccess;
}
FAKE Code cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  ENTER_CARD(cuMemHostAlloc);
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
FAKE Code cuMemFreeHost(void* memory) {
  ENTER(cuMemFreeHost);
  std::free(memory);
  return kSuccess;
}
FAKE Code cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream) {
  ENTER_CARD(cuMemcpyHtoDAsync);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
FAKE Code cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Stream) {
  ENTER_CARD(cuMemcpyDtoHAsync);
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return kSuccess;
}
FAKE Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream) {
  ENTER_CARD(cuMemcpyDtoDAsync);
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return kSuccess;
}
FAKE Code cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Stream) {
  ENTER_CARD(cuMemsetD8Async);
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return kSuccess;
}

// Streams and events are numbers: all is finished at once.
FAKE Code cuStreamCreateWithPriority(Stream* stream, unsigned, int) {
  ENTER_CARD(cuStreamCreateWithPriority);
  static uintptr_t next = 16;
  *stream = reinterpret_cast<Stream>(next += 16);
  return kSuccess;
}
FAKE Code cuStreamDestroy_v2(Stream) { return kSuccess; }
FAKE Code cuStreamSynchronize(Stream) {
  ENTER_CARD(cuStreamSynchronize);
  return kSuccess;
}
FAKE Code cuStreamQuery(Stream) {
  ENTER_CARD(cuStreamQuery);
  return kSuccess;
}
FAKE Code cuStreamWaitEvent(Stream, Event, unsigned) { return kSuccess; }
FAKE Code cuEventCreate(Event* event, unsigned) {
  ENTER_CARD(cuEventCreate);
  static uintptr_t next = 16;
  *event = reinterpret_cast<Event>(next += 16);
  return kSuccess;
}
FAKE Code cuEventDestroy_v2(Event) { return kSuccess; }
FAKE Code cuEventRecord(Event, Stream) {
  ENTER_CARD(cuEventRecord);
  return kSuccess;
}
FAKE Code cuEventSynchronize(Event) {
  ENTER_CARD(cuEventSynchronize);
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
  ENTER_CARD(cuLaunchKernel);
  return kSuccess;
}

}  // extern "C"
