// A libamdhip64.so for machines without AMD's cards. Its cards work while the host goes on: streams
// are threads, copies read and write the host's memory when their turn comes, and memory of a card
// is closed to the host while the card does not work. What HIP leaves undefined, or forgives, fails
// here: streams, events and kernels belong to a card, which has to be the current one. What it is
// like stands in variables:
//
//   FAKE_HIP_CARDS=gfx90a      their processors: "gfx90a,gfx1030" is two cards; empty for none
//   FAKE_HIP_VERSION=70100000  of ROCm, as HIP numbers it: 7.1
//   FAKE_HIP_MEMORY=1024       MiB of each card
//   FAKE_HIP_FAIL=hipModuleLaunchKernel:700,hipInit:999   functions that fail, and how; from 700
//                              on, all that follow fail alike, as on a card that is lost
//   FAKE_HIP_CALLS=path        a file that gets a line for every call
//
// Compiled with -DOLD it has no hipModuleLaunchKernel, with -DROCM5 the properties of ROCm 5.
// fake_hip_waits() tells how often the host has waited for a card.
#include "fake_hip.h"

#include <atomic>
#include <cstdio>
#include <cstring>

using namespace fake;

namespace {

std::atomic<unsigned long long> waits{0};
thread_local Code last_error = kSuccess;

std::string cards() { return card::setting("FAKE_HIP_CARDS", "gfx90a"); }

bool is_card(int device) { return device >= 0 && device < count(); }

Code fill_properties(void* properties, int device, const PropertiesLayout& layout) {
  if (!is_card(device)) return kInvalidDevice;
  auto* text = static_cast<char*>(properties);
  std::memset(text, 0, layout.bytes);
  const std::string features = wave(device) == 64 ? ":sramecc+:xnack-" : "";
  std::snprintf(text + layout.architecture, 256, "%s", (processor(device) + features).c_str());
  return kSuccess;
}

}  // namespace

namespace fake {

int count() {
  const std::string list = cards();
  int found = list.empty() ? 0 : 1;
  for (const char letter : list) found += letter == ',' ? 1 : 0;
  return found < kMostCards ? found : kMostCards;
}

std::string processor(int card) { return card::item_of(cards(), card); }

int wave(int card) { return processor(card).rfind("gfx9", 0) == 0 ? 64 : 32; }

// Never destroyed: the threads of streams end with the process.
Card& card_of(int number) {
  static Card* const all = [] {
    auto* made = new Card[kMostCards];
    for (int i = 0; i < kMostCards; ++i)
      made[i].streams.push_back(std::make_unique<StreamObject>(i));
    return made;
  }();
  return all[number];
}

Code enter(const char* function, bool waiting) {
  static card::Calls calls("FAKE_HIP_FAIL", "FAKE_HIP_CALLS");
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
  *version = card::number("FAKE_HIP_VERSION", "70100000");
  return kSuccess;
}
FAKE const char* hipGetErrorName(Code code) {
  return code == kOutOfMemory ? "hipErrorOutOfMemory" : "hipErrorOfTheFake";
}
FAKE const char* hipGetErrorString(Code code) {
  return code == kOutOfMemory ? "out of memory" : "the fake was told to fail";
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
  if (!is_card(device)) return kInvalidDevice;
  current = device;
  return kSuccess;
}
FAKE Code hipDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<size_t>(size), "Fake %d", device);
  return kSuccess;
}
FAKE Code hipDeviceTotalMem(size_t* bytes, int device) {
  *bytes = card_of(device).memory.total();
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
