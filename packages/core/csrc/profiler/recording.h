// Recording of native calls for a profiler: on the host, and on the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core::profiler {

// The host time of a call in vendor code. Times are nanoseconds of the steady clock.
struct HostCall {
  const char* name;      // "diopiAdd"
  const char* overload;  // "add.Tensor"
  int device;
  int32_t thread;
  uint64_t correlation;  // id of the enclosing operator; 0: none
  int64_t start;
  int64_t end;
  void* stream;
  void* first_event = nullptr;  // start event, if the device is timed with events
  void* last_event = nullptr;
  const char* added_by = nullptr;  // library that served it; NULL: the vendor

  // Name in the profile: "diopiAdd", or "diopiAdd (fast)" for an operator that a library adds.
  std::string shown() const {
    return added_by == nullptr ? name : name + (" (" + std::string(added_by) + ")");
  }
};

struct DeviceWork {
  std::string name;
  uint32_t kind;  // dl_activity_kind_t
  int device;
  void* stream;
  uint64_t correlation;
  int64_t start;  // nanoseconds of the host's steady clock
  int64_t end;
  uint64_t bytes = 0;
  int64_t call = -1;  // index of its host call; -1: unknown
};

struct Recorded {
  std::vector<HostCall> calls;
  std::vector<DeviceWork> work;
  std::vector<std::string> problems;
};

// Starts a recording; returns false if one is active already. Device times come from the vendor's
// profiler extension if it has one, from the host's clock if calls are synchronous, and otherwise
// from events before and after each call.
bool start_recording();
// Synchronizes the devices.
void stop_recording();
// Returns the data recorded until the last stop.
Recorded take_recorded();

// Associates this thread's native calls with this operator until pop_correlation().
void push_correlation(uint64_t id);
void pop_correlation();

}  // namespace dl::core::profiler
