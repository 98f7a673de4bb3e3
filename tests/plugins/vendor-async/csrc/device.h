#ifndef DL_ASYNC_TEST_DEVICE_H_
#define DL_ASYNC_TEST_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "memory.h"
#include "options.h"
#include "stream.h"

namespace dl::async_test {

/** One simulated device: its memory and its streams. Stream handles are numbers, not addresses: a
 * host that dereferences one faults, and a handle is never reused. */
class Device {
 public:
  Device(int32_t index, uint64_t instance, const Options& options);
  /** Drop work that has not started. */
  ~Device();

  int32_t index() const { return index_; }
  DeviceMemory& memory() { return memory_; }
  StreamGroup& group() { return group_; }

  void* create_stream();
  /** The stream finishes its work in the background. */
  void destroy_stream(void* handle);
  /** NULL is the default stream. Throws Error for a handle that is not a stream of this device. */
  std::shared_ptr<Stream> stream(void* handle);
  /** Wait for all streams, including destroyed ones, then report the device's failure. */
  void synchronize();
  /** Like synchronize, but also for capturing streams, and without the failure. */
  void drain();
  /** Allow or forbid operators of this device to use memory of device `peer`. */
  void set_peer(int32_t peer, bool enabled);
  bool reaches(int32_t peer);
  /** Drop work that has not started on any stream. */
  void cancel();

 private:
  std::vector<std::shared_ptr<Stream>> all_streams();
  std::map<void*, std::shared_ptr<Stream>>::iterator find(void* handle);

  const int32_t index_;
  std::set<int32_t> peers_;
  DeviceMemory memory_;
  StreamGroup group_;
  std::mutex mutex_;
  std::shared_ptr<Stream> default_stream_;
  std::map<void*, std::shared_ptr<Stream>> streams_;
  std::vector<std::shared_ptr<Stream>> closed_;  // destroyed by the host, possibly unfinished
};

}  // namespace dl::async_test

#endif
