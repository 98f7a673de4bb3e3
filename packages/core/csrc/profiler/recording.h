// What native calls did while a profiler looks: on the host, and on the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core::profiler {

// The part of a call that the host spends in the vendor's code. Times are nanoseconds of the steady
// clock.
struct HostCall {
  const char* name;      // "diopiAdd"
  const char* overload;  // "add.Tensor"
  int device;
  int32_t thread;
  uint64_t correlation;  // of the operator around it; 0: none
  int64_t start;
  int64_t end;
  void* stream;
  void* first_event = nullptr;  // where the device tells times by events
  void* last_event = nullptr;
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
  int64_t call = -1;  // the host call that it belongs to, where that is known
};

struct Recorded {
  std::vector<HostCall> calls;
  std::vector<DeviceWork> work;
  std::vector<std::string> problems;
};

// One recording at a time: false if there is one. Times of the device are the vendor's own where it
// has the profiler extension, the host's where a call returns when it is done, and else those of
// events around each call.
bool start_recording();
// Waits for the devices.
void stop_recording();
// What was recorded until the last stop.
Recorded take_recorded();

// Native calls of this thread belong to this operator until it is popped.
void push_correlation(uint64_t id);
void pop_correlation();

}  // namespace dl::core::profiler
