// A libamdhip64.so for machines without AMD's GPUs. Its devices work asynchronously: streams are
// threads, copies access host memory when they run, and device memory is inaccessible to the host
// unless the device is working. Calls that HIP leaves undefined, or tolerates, fail here: the
// device of a stream, event or kernel must be current. Environment variables configure it:
//
//   FAKE_HIP_DEVICES=gfx90a      GPU architectures: "gfx90a,gfx1030" is two devices; empty for none
//   FAKE_HIP_VERSION=70100000  ROCm's version in HIP's encoding: 7.1
//   FAKE_HIP_MEMORY=1024       MiB of each device
//   FAKE_HIP_FAIL=hipModuleLaunchKernel:700,hipInit:999   functions that fail, with the error; from
//                              700 on, all later calls fail with the same error, as on a lost
//                              device
//   FAKE_HIP_CALLS=path        log file with one line per call
//
// Compiled with -DOLD, it lacks hipModuleLaunchKernel; with -DROCM5, it has the device properties
// of ROCm 5. fake_hip_waits() returns how often the host has waited for a device.
#include "fake_hip.h"

#include <atomic>
#include <cstdio>
#include <cstring>

using namespace fake;

namespace {

std::atomic<unsigned long long> waits{0};
thread_local Code last_error = kSuccess;

std::string devices() { return fake_driver::setting("FAKE_HIP_DEVICES", "gfx90a"); }

bool is_device(int device) { return device >= 0 && device < count(); }

Code fill_properties(void* properties, int device, const PropertiesLayout& layout) {
  if (!is_device(device)) return kInvalidDevice;
  auto* text = static_cast<char*>(properties);
  std::memset(text, 0, layout.bytes);
  const std::string features = wave(device) == 64 ? ":sramecc+:xnack-" : "";
  std::snprintf(text + layout.architecture, 256, "%s", (processor(device) + features).c_str());
  return kSuccess;
}

}  // namespace

namespace fake {

int count() {
  const std::string list = devices();
  int found = list.empty() ? 0 : 1;
  for (const char letter : list) found += letter == ',' ? 1 : 0;
  return found < kMaxDevices ? found : kMaxDevices;
}

std::string processor(int device) { return fake_driver::item_of(devices(), device); }

int wave(int device) { return processor(device).rfind("gfx9", 0) == 0 ? 64 : 32; }

// Never destroyed: the threads of streams run until the process exits.
Device& device_of(int number) {
  static Device* const all = [] {
    auto* made = new Device[kMaxDevices];
    for (int i = 0; i < kMaxDevices; ++i)
      made[i].streams.push_back(std::make_unique<StreamObject>(i));
    return made;
  }();
  return all[number];
}

Code enter(const char* function, bool waiting) {
  static fake_driver::Calls calls("FAKE_HIP_FAIL", "FAKE_HIP_CALLS");
  if (waiting) ++waits;
  const Code failed = calls.enter(function);
  return failed == kSuccess ? failed : note(failed);
}

Code note(Code code) { return last_error = code; }

}  // namespace fake

FAKE unsigned long long fake_hip_waits() { return waits; }

FAKE Code hipInit(unsigned) {
  ENTER(hipInit);
  return count() > 0 ? kSuccess : kNoDevice;
}
FAKE Code hipRuntimeGetVersion(int* version) {
  *version = fake_driver::int_setting("FAKE_HIP_VERSION", "70100000");
  return kSuccess;
}
FAKE const char* hipGetErrorName(Code code) {
  return code == kOutOfMemory ? "hipErrorOutOfMemory" : "hipErrorOfTheFake";
}
FAKE const char* hipGetErrorString(Code code) {
  return code == kOutOfMemory ? "out of memory" : "an injected failure";
}
FAKE Code hipGetLastError() {
  const Code code = last_error;
  last_error = kSuccess;
  return code;
}

FAKE Code hipGetDeviceCount(int* out) {
  ENTER(hipGetDeviceCount);
  *out = count();
  return kSuccess;
}
FAKE Code hipGetDevice(int* device) {
  *device = current;
  return kSuccess;
}
FAKE Code hipSetDevice(int device) {
  ENTER(hipSetDevice);
  if (!is_device(device)) return kInvalidDevice;
  current = device;
  return kSuccess;
}
FAKE Code hipDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<size_t>(size), "Fake %d", device);
  return kSuccess;
}
FAKE Code hipDeviceTotalMem(size_t* bytes, int device) {
  *bytes = device_of(device).memory.total();
  return kSuccess;
}
FAKE Code hipDeviceGetAttribute(int* value, Attribute attribute, int device) {
  switch (attribute) {
    case kWarpSize:
      *value = wave(device);
      return kSuccess;
    case kMaxBlockX:
    case kMaxBlockX + 1:
    case kMaxBlockX + 2:
    case kMaxBlockThreads:
      *value = kMostThreads;
      return kSuccess;
    case kMaxGridX:
      *value = INT32_MAX;
      return kSuccess;
    case kMaxGridX + 1:
    case kMaxGridX + 2:
      *value = UINT16_MAX;
      return kSuccess;
    case kMaxSharedBytes:
      *value = kMostShared;
      return kSuccess;
    default:
      *value = 4;
      return kSuccess;
  }
}
FAKE Code hipGetDeviceProperties(void* properties, int device) {
  ENTER(hipGetDeviceProperties);
  return fill_properties(properties, device, kProperties5);
}
#ifndef ROCM5
FAKE Code hipGetDevicePropertiesR0600(void* properties, int device) {
  ENTER(hipGetDevicePropertiesR0600);
  return fill_properties(properties, device, kProperties6);
}
#endif
