// How the work of one device is timed.
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
  // Whether calls have to be marked on their stream, before and after; an event that does.
  virtual bool marks() const { return false; }
  virtual void* mark(void*) { return nullptr; }
  // The work behind these calls of the device, given as places in `recorded.calls`.
  virtual void collect(const std::vector<size_t>& calls, Recorded& recorded) = 0;
};

// For the dl device `index`.
std::unique_ptr<DeviceClock> device_clock(int index);

// Of the vendor's own profiler (dl/profiler.h); NULL where it has none.
std::unique_ptr<DeviceClock> vendor_clock(int index);
// Of events; NULL where the vendor's cannot be timed.
std::unique_ptr<DeviceClock> event_clock(int index);
// The host's: a call has run when it returns, or nothing better is known.
std::unique_ptr<DeviceClock> host_clock(int index);

}  // namespace dl::core::profiler
