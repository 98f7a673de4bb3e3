#ifndef DL_ASYNC_TEST_INSTANCE_H_
#define DL_ASYNC_TEST_INSTANCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device.h"
#include "dl/kit/fork.h"
#include "dl/kit/table.h"
#include "event.h"
#include "extensions/communicator.h"
#include "graph.h"
#include "host_memory.h"
#include "options.h"

namespace dl::async_test {

/** An instance of the vendor: its methods are the slots of the table. Destroying it drops work that
 * has not started. */
class Instance : public kit::Instance, public kit::ForkGuard {
 public:
  static constexpr const char* kName = "async";
  static constexpr const char* kVersion = DL_ASYNC_TEST_VERSION;
  static constexpr const char* kDevicesFrom = "DL_ASYNC_TEST_DEVICES";
  /** The control of dl_async_test/control.h, and all of the contract's extensions except kernels.
   */
  static dl_extension_t* extensions();

  Instance() : Instance(Options::from_environment()) {}
  ~Instance();

  static Instance& of(dl_vendor_t* vendor) { return kit::self<Instance>(vendor); }

  /** Throws Error unless it is the thread's current device, which the host has to set. */
  Device& device(int32_t index);
  /** Return a device regardless of the current one, for the control of tests. Throws Error if it
   * does not exist. */
  Device& any_device(int32_t index);
  /** Return an event of any device: streams may wait for events of other devices. Throws Error
   * unless `handle` is an event. */
  std::shared_ptr<Event> event(void* handle);
  HostMemory& host_memory() { return host_memory_; }
  const Options& options() const { return options_; }
  /** Unique among all instances of the process, including earlier ones. */
  uint64_t number() const { return number_; }
  Communicators& communicators() { return communicators_; }
  Graphs& graphs() { return graphs_; }

  // Devices.
  bool present() { return !devices_.empty(); }
  int32_t device_count() { return static_cast<int32_t>(devices_.size()); }
  void device_set(int32_t index);
  dl_device_properties_t device_properties(int32_t index);
  void device_synchronize(int32_t index) { device(index).synchronize(); }

  // Memory.
  void* memory_allocate(int32_t index, uint64_t bytes) {
    return device(index).memory().allocate(bytes);
  }
  void memory_free(int32_t index, void* memory) { device(index).memory().release(memory); }
  kit::MemoryInfo memory_info(int32_t index);
  void* host_allocate(uint64_t bytes) { return host_memory_.allocate(bytes); }
  void host_free(void* memory) { host_memory_.release(memory); }
  void memory_copy(int32_t index, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream);
  void memory_set(int32_t index, void* memory, int32_t value, uint64_t bytes, void* stream);

  // Streams.
  void* stream_create(int32_t index, int32_t) { return device(index).create_stream(); }
  void stream_destroy(int32_t index, void* stream) { device(index).destroy_stream(stream); }
  void stream_synchronize(int32_t index, void* stream);
  bool stream_query(int32_t index, void* stream) {
    return device(index).stream(stream)->finished();
  }
  void stream_wait_event(int32_t index, void* stream, void* event);

  // Events.
  void* event_create(int32_t index, uint64_t flags);
  void event_destroy(int32_t index, void* event);
  void event_record(int32_t index, void* event, void* stream);
  void event_synchronize(int32_t index, void* event);
  bool event_query(int32_t index, void* event);
  double event_elapsed(int32_t index, void* start, void* end);

  kit::Operators operators();

 private:
  explicit Instance(const Options& options);
  /** Throws Error unless `handle` is an event of that device. */
  std::shared_ptr<Event> event(int32_t index, void* handle);

  const Options options_;
  uint64_t number_ = 0;
  HostMemory host_memory_;
  Communicators communicators_;
  Graphs graphs_;
  std::mutex events_mutex_;
  std::map<void*, std::shared_ptr<Event>> events_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace dl::async_test

#endif
