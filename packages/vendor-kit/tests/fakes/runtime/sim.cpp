// Device selection, error strings, and the functions for tests.
#include "sim.h"

#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "driver.h"

using namespace sim;

const char* simGetErrorString(simError_t error) {
  switch (error) {
    case simSuccess:
      return "no error";
    case simErrorInvalidValue:
      return "invalid value: not memory of the current device";
    case simErrorMemoryAllocation:
      return "out of memory";
    case simErrorNoDevice:
      return "no device is available";
    case simErrorInvalidDevice:
      return "the device does not exist or is not current";
    case simErrorInvalidHandle:
      return "the stream or event does not belong to the current device";
    case simErrorNotReady:
      return "not ready";
    case simErrorLaunchFailure:
      return "a kernel accessed memory outside of its device's allocations";
  }
  return "unknown error";
}

simError_t simGetLastError(void) { return std::exchange(last_error, simSuccess); }

simError_t simGetDeviceCount(int* count) {
  *count = driver().count;
  return *count == 0 ? simErrorNoDevice : simSuccess;
}
simError_t simGetDevice(int* device) {
  *device = current;
  return simSuccess;
}
simError_t simSetDevice(int device) {
  if (device < 0 || device >= driver().count) return simErrorInvalidDevice;
  current = device;
  return simSuccess;
}
simError_t simGetName(char* name, size_t size, int device) {
  if (device < 0 || device >= driver().count) return simErrorInvalidDevice;
  std::snprintf(name, size, "simulated device %d", device);
  return simSuccess;
}
simError_t simDeviceSynchronize(void) {
  std::vector<simStream*> all;
  {
    const std::lock_guard<std::mutex> lock(driver().mutex);
    for (const auto& stream : driver().streams[static_cast<size_t>(current)])
      all.push_back(stream.get());
  }
  for (simStream* stream : all) stream->synchronize();
  return report();
}

simError_t simHold(int device, int hold) {
  if (device < 0 || device >= driver().count) return simErrorInvalidDevice;
  driver().streams[static_cast<size_t>(device)][0]->hold(hold != 0);
  return simSuccess;
}
simError_t simLiveAllocations(int device, size_t* count) {
  if (device < 0 || device >= driver().count) return simErrorInvalidDevice;
  const std::lock_guard<std::mutex> lock(driver().devices[device].mutex);
  *count = driver().devices[device].live.size();
  return simSuccess;
}
