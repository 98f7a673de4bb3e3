/* State of the simulated driver: the memory and streams of each device. */
#ifndef DL_SIM_DRIVER_H_
#define DL_SIM_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "../common/work_queue.h"
#include "sim.h"

#pragma GCC visibility push(hidden)

namespace sim {

using namespace fake_driver;

constexpr int kMostDevices = 64;

inline thread_local int current = 0;
inline thread_local simError_t last_error = simSuccess;

struct Device {
  std::mutex mutex;
  std::map<uintptr_t, size_t> live;  // host address -> bytes
  size_t used = 0;
  bool failed = false;
};

}  // namespace sim

// Streams are never freed, so that stale handles are detected.
struct simStream : fake_driver::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
};

struct simEvent {
  int device;
  bool timing;
  std::shared_ptr<fake_driver::Point> latest;
};

namespace sim {

using namespace fake_driver;

struct Driver {
  const int count;
  const size_t memory;  // of each device
  Device devices[kMostDevices];
  std::mutex mutex;
  std::vector<std::vector<std::unique_ptr<simStream>>> streams;  // [0] is the default stream

  Driver();
};

Driver& driver();

// Returns the host address of `bytes` bytes of a device; 0 if they are not inside one allocation.
uintptr_t untagged(int device, const void* pointer, size_t bytes);
// Returns the address that a program sees for memory of a device.
uintptr_t tagged(int device, uintptr_t address);

// Returns the stream of a handle if it belongs to the current device.
simStream* find(simStream_t stream);

// Returns and clears the kernel failure of the current device.
simError_t report();

}  // namespace sim

#pragma GCC visibility pop

#endif
