// A libcnrt.so for machines without a Cambricon MLU. Its devices work asynchronously: queues are
// threads, copies access host memory when they run, and the host cannot access device memory, whose
// addresses are tagged. Calls that the runtime leaves undefined, or tolerates, fail here: queues
// and notifiers of another device, waiting for a notifier that was never placed, freeing memory
// that something has written past the end of. Environment variables configure it:
//
//   FAKE_CNRT_DEVICES=2          number of devices (default: 1)
//   FAKE_CNRT_MEMORY=1024        MiB of each device
//   FAKE_CNRT_FAIL=cnrtMalloc:100100,cnrtSetDevice:100005   functions that fail, with the error;
//                                after 632015 all later calls fail with it, as on a lost device
//   FAKE_CNRT_CALLS=path         log file with one line per call
//
// Compiled with -DOLD, it lacks cnrtMemcpyAsync_V2.
#include "fake_cnrt.h"

#include <algorithm>

using namespace fake;

namespace fake {

int count() { return std::min(fake_driver::int_setting("FAKE_CNRT_DEVICES", "1"), kMaxDevices); }

// Never destroyed: the threads of queues run until the process exits.
Device& device_of(int number) {
  static Device* const all = [] {
    auto* made = new Device[kMaxDevices];
    for (int i = 0; i < kMaxDevices; ++i)
      made[i].queues.push_back(std::make_unique<QueueObject>(i));
    return made;
  }();
  return all[number];
}

size_t memory_total() {
  return static_cast<size_t>(fake_driver::int_setting("FAKE_CNRT_MEMORY", "1024")) << 20;
}

Code enter(const char* function) {
  static fake_driver::Calls calls("FAKE_CNRT_FAIL", "FAKE_CNRT_CALLS",
                                  [](int code) { return code == kDriverCallFailed; });
  return calls.enter(function);
}

}  // namespace fake

FAKE const char* cnrtGetErrorStr(Code code) {
  switch (code) {
    case kSuccess:
      return "success";
    case kNotReady:
      return "the work has not finished";
    case kNoDevice:
      return "no device was found";
    case kInvalidDevice:
      return "the number of a device is out of range";
    case kInvalidArgument:
      return "an argument is invalid";
    case kInvalidHandle:
      return "a queue or notifier is not one of the current device";
    case kOutOfMemory:
      return "out of memory";
    case kKernelTrap:
      return "a kernel failed on the device";
    case kWrongDirection:
      return "an address is not of the kind of memory that the direction of the copy states";
    case kDriverCallFailed:
      return "a call of the driver failed";
    default:
      return "another error";
  }
}

FAKE Code cnrtGetDeviceCount(unsigned* out) {
  ENTER(cnrtGetDeviceCount);
  *out = static_cast<unsigned>(count());
  return *out == 0 ? Code(kNoDevice) : Code(kSuccess);
}
FAKE Code cnrtGetDevice(int* device) {
  ENTER(cnrtGetDevice);
  *device = current;
  return kSuccess;
}
FAKE Code cnrtSetDevice(int device) {
  ENTER(cnrtSetDevice);
  if (device < 0 || device >= count()) return kInvalidDevice;
  current = device;
  return kSuccess;
}
FAKE Code cnrtDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER(cnrtDeviceGetAttribute);
  if (device < 0 || device >= count()) return kInvalidDevice;
  switch (attribute) {
    case kIsaVersion:
      *value = 592;
      return kSuccess;
    case kMajor:
      *value = 5;
      return kSuccess;
    case kMinor:
      *value = 0;
      return kSuccess;
    case kClusterCount:
      *value = 12;
      return kSuccess;
    case kCoresPerCluster:
      *value = 4;
      return kSuccess;
    default:
      return kInvalidArgument;
  }
}

FAKE int fakeCnrtCurrentDevice() { return current; }
