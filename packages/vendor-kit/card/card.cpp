// The cards themselves, and what tests ask of them.
#include "card.h"

#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "driver.h"

using namespace card;

const char* cardGetErrorString(cardError_t error) {
  switch (error) {
    case cardSuccess:
      return "no error";
    case cardErrorInvalidValue:
      return "invalid value: it is no memory of the current card";
    case cardErrorMemoryAllocation:
      return "out of memory";
    case cardErrorNoDevice:
      return "there is no card";
    case cardErrorInvalidDevice:
      return "no card of that number, or not the current one";
    case cardErrorInvalidHandle:
      return "the stream or event is none of the current card";
    case cardErrorNotReady:
      return "not ready";
    case cardErrorLaunchFailure:
      return "a kernel used memory that its card does not have";
  }
  return "unknown error";
}

cardError_t cardGetLastError(void) { return std::exchange(last_error, cardSuccess); }

cardError_t cardGetDeviceCount(int* count) {
  *count = driver().count;
  return *count == 0 ? cardErrorNoDevice : cardSuccess;
}
cardError_t cardGetDevice(int* device) {
  *device = current;
  return cardSuccess;
}
cardError_t cardSetDevice(int device) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  current = device;
  return cardSuccess;
}
cardError_t cardGetName(char* name, size_t size, int device) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  std::snprintf(name, size, "test card %d", device);
  return cardSuccess;
}
cardError_t cardDeviceSynchronize(void) {
  std::vector<cardStream*> all;
  {
    const std::lock_guard<std::mutex> lock(driver().mutex);
    for (const auto& stream : driver().streams[static_cast<size_t>(current)])
      all.push_back(stream.get());
  }
  for (cardStream* stream : all) stream->synchronize();
  return report();
}

cardError_t cardHold(int device, int hold) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  driver().streams[static_cast<size_t>(device)][0]->hold(hold != 0);
  return cardSuccess;
}
cardError_t cardLiveAllocations(int device, size_t* count) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  const std::lock_guard<std::mutex> lock(driver().devices[device].mutex);
  *count = driver().devices[device].live.size();
  return cardSuccess;
}
