// Timing of the work of one device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/recording.h"

namespace dl::core::profiler {

class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  // Returns true if the clock needs events before and after each call, on the call's stream.
  virtual bool marks() const { return false; }
  virtual void* mark(void*) { return nullptr; }
  // Appends the device work of these calls, which are given as indices of `recorded.calls`.
  virtual void collect(const std::vector<size_t>& calls, Recorded& recorded) = 0;
};

// Returns the most precise clock for the dl device `index`.
std::unique_ptr<DeviceClock> device_clock(int index);

// Clock of the vendor's profiler (dl/profiler.h); NULL if it has none.
std::unique_ptr<DeviceClock> vendor_clock(int index);
// Clock of events; NULL if the vendor's events have no timing.
std::unique_ptr<DeviceClock> event_clock(int index);
// Clock of the host, for synchronous devices or if there is no other clock.
std::unique_ptr<DeviceClock> host_clock(int index);

}  // namespace dl::core::profiler
