#include "driver.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace sim {

using namespace fake_driver;
namespace {

// Tag of device addresses, which the host cannot access: no processor lets a program use bit 62.
constexpr uintptr_t kDeviceBit = uintptr_t{1} << 62;
constexpr int kDeviceShift = 52;

size_t number_from(const char* variable, size_t standard) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? standard : std::strtoull(text, nullptr, 10);
}

}  // namespace

Driver::Driver()
    : count(static_cast<int>(std::min<size_t>(number_from("SIM_DEVICES", 2), kMostDevices))),
      memory(number_from("SIM_MEMORY", size_t{1} << 30)),
      streams(static_cast<size_t>(std::max(count, 1))) {
  for (size_t i = 0; i < streams.size(); ++i)
    streams[i].push_back(std::make_unique<simStream>(static_cast<int>(i)));
}

// Never destroyed: the threads of streams run until the process exits.
Driver& driver() {
  static Driver* const made = new Driver;
  return *made;
}

uintptr_t tagged(int device, uintptr_t address) {
  return address | kDeviceBit | static_cast<uintptr_t>(device) << kDeviceShift;
}

uintptr_t untagged(int device, const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const uintptr_t tag = tagged(device, 0);
  constexpr uintptr_t kTagBits = ~((uintptr_t{1} << kDeviceShift) - 1);
  if ((address & kTagBits) != tag) return 0;
  const uintptr_t real = address & ~kTagBits;
  Device& owner = driver().devices[device];
  const std::lock_guard<std::mutex> lock(owner.mutex);
  const auto next = owner.live.upper_bound(real);
  if (next == owner.live.begin()) return 0;
  const auto block = std::prev(next);
  const size_t inside = real - block->first;
  return inside <= block->second && bytes <= block->second - inside ? real : 0;
}

simStream* find(simStream_t stream) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  auto& streams = driver().streams[static_cast<size_t>(current)];
  if (stream == nullptr) return streams[0].get();
  for (const auto& known : streams) {
    if (known.get() == stream && !known->destroyed) return stream;
  }
  return nullptr;
}

simError_t report() {
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  return std::exchange(device.failed, false) ? simErrorLaunchFailure : simSuccess;
}

}  // namespace sim
