#ifndef DL_ASYNC_TEST_INSTANCE_H_
#define DL_ASYNC_TEST_INSTANCE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device.h"
#include "dl/vendor.h"
#include "event.h"
#include "host_memory.h"
#include "options.h"

namespace dl::async_test {

/** What a host holds. Streams run while it lives; destroying it drops work that has not started. */
class Instance : public dl_vendor {
 public:
  Instance(const dl_vendor_table_t* table, const Options& options);
  ~Instance();

  static Instance& of(dl_vendor_t* vendor) { return *static_cast<Instance*>(vendor); }

  /** Notes that this process uses the driver. Throws Error(DL_UNAVAILABLE) if its parent did before
   * the fork: the threads of the streams exist in the parent only. */
  void enter();
  bool inherited_by_fork() const;

  int32_t device_count() const { return static_cast<int32_t>(devices_.size()); }
  Device& device(int32_t index);
  HostMemory& host_memory() { return host_memory_; }
  const Options& options() const { return options_; }

  void* create_event(int32_t device, bool timing);
  void destroy_event(int32_t device, void* handle);
  /** Throws Error unless `handle` is an event of `device`. */
  std::shared_ptr<Event> event(int32_t device, void* handle);
  /** An event of any device: streams may wait for another device's events. */
  std::shared_ptr<Event> event(void* handle);

 private:
  const Options options_;
  std::atomic<pid_t> user_{0};
  HostMemory host_memory_;
  std::mutex events_mutex_;
  std::map<void*, std::shared_ptr<Event>> events_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace dl::async_test

#endif
