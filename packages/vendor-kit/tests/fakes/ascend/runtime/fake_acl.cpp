// A libascendcl.so for machines without an Ascend NPU. Its devices work asynchronously: streams are
// threads, copies access host memory when they run, and the host cannot access device memory, whose
// addresses are tagged. Calls that the runtime leaves undefined, or tolerates, fail here:
// calls before aclInit or without a current device, streams and events of another device, waiting
// for an event that was never recorded, copies on the device between addresses that are not
// multiples of 64 bytes. Environment variables configure it:
//
//   FAKE_ACL_DEVICES=2           number of devices (default: 1)
//   FAKE_ACL_SOC=Ascend910B3     name of the devices' chip
//   FAKE_ACL_MEMORY=1024         MiB of each device
//   FAKE_ACL_FAIL=aclInit:500000,aclrtMalloc:207001   functions that fail, with the error; after
//                                507010 and 507899 all later calls fail with the same error, as on
//                                a lost device
//   FAKE_ACL_CALLS=path          log file with one line per call
//
// Compiled with -DOLD, it lacks aclrtCreateEventExWithFlag. ../hooks.h has the functions for other
// fake libraries.
#include "fake_acl.h"

#include <atomic>
#include <cstdio>

using namespace fake;

namespace {

std::atomic<bool> initialized{false};
// Error texts of the thread, the newest first, and the text that was returned last.
thread_local std::string texts, taken;

bool is_lost(int code) { return code == kLostHeartbeat || code == kDriverFailure; }

Code injected(const char* function) {
  static fake_driver::Calls calls("FAKE_ACL_FAIL", "FAKE_ACL_CALLS", is_lost);
  const Code failed = calls.enter(function);
  return failed == kSuccess ? failed
                            : note(failed, std::string("an injected failure of ") + function);
}

}  // namespace

namespace fake {

int count() {
  const int found = fake_driver::int_setting("FAKE_ACL_DEVICES", "1");
  return found < kMaxDevices ? found : kMaxDevices;
}

bool is_device(int device) { return device >= 0 && device < count(); }

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

Code enter(const char* function) {
  if (const Code failed = injected(function)) return failed;
  constexpr Code kUninitialized = 100001;
  return initialized ? Code(kSuccess)
                     : note(kUninitialized, std::string(function) + " was called before aclInit");
}

Code enter_device(const char* function) {
  if (const Code failed = enter(function)) return failed;
  return current >= 0 ? Code(kSuccess)
                      : note(kNoContext, std::string(function) + ": no device is current");
}

Code note(Code code, const std::string& text) {
  texts = "EE" + std::to_string(code) + ": " + text + "\n" + texts;
  return code;
}

}  // namespace fake

FAKE Code aclInit(const char* path) {
  if (const Code failed = injected("aclInit")) return failed;
  if (path != nullptr) return note(kInvalidParameter, "the fake reads no configuration");
  return initialized.exchange(true) ? note(kRepeatedInitialize, "repeated initialization")
                                    : Code(kSuccess);
}
FAKE const char* aclGetRecentErrMsg() {
  if (texts.empty()) return nullptr;
  taken = std::move(texts);
  texts.clear();
  return taken.c_str();
}
FAKE const char* aclrtGetSocName() {
  static const std::string name = fake_driver::setting("FAKE_ACL_SOC", "Ascend910B3");
  return name.c_str();
}
FAKE Code aclrtSetSysParamOpt(int option, int64_t value) {
  ENTER(aclrtSetSysParamOpt);
  return option == kDeterministic && value >= 0 && value <= 3
             ? Code(kSuccess)
             : note(kInvalidParameter, "unknown option");
}
FAKE Code aclrtSetDeviceSatMode(int mode) {
  ENTER_DEVICE(aclrtSetDeviceSatMode);
  return mode == kInfNan ? Code(kSuccess) : note(kUnsupported, "only INF/NaN mode is supported");
}

FAKE Code aclrtGetDeviceCount(uint32_t* out) {
  ENTER(aclrtGetDeviceCount);
  *out = static_cast<uint32_t>(count());
  return *out == 0 ? note(kNoDevice, "no device was found") : Code(kSuccess);
}
FAKE Code aclrtGetDevice(int32_t* device) {
  ENTER_DEVICE(aclrtGetDevice);
  *device = current;
  return kSuccess;
}
FAKE Code aclrtSetDevice(int32_t device) {
  ENTER(aclrtSetDevice);
  if (!is_device(device)) return note(kInvalidDevice, "no device " + std::to_string(device));
  current = device;
  return kSuccess;
}
FAKE Code aclGetDeviceCapability(uint32_t device, int what, int64_t* value) {
  ENTER(aclGetDeviceCapability);
  if (!is_device(static_cast<int>(device)) || what != kAicoreCount)
    return note(kInvalidParameter, "unknown device or capability");
  *value = 20;
  return kSuccess;
}
// The fake's devices have HBM only.
FAKE Code aclrtGetMemInfo(int kind, size_t* free_bytes, size_t* total) {
  ENTER_DEVICE(aclrtGetMemInfo);
  *total = kind == kHbmMemory ? memory_total() : 0;
  *free_bytes = kind == kHbmMemory ? *total - here().memory.used() : 0;
  return kSuccess;
}

FAKE int32_t fakeAclCurrentDevice() { return current; }
FAKE void fakeAclSetErrorText(const char* text) { texts = text; }
