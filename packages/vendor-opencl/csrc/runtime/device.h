// The devices of this process, of all drivers. They belong to the process, and all hosts share
// them.
#ifndef DL_OPENCL_RUNTIME_DEVICE_H_
#define DL_OPENCL_RUNTIME_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/driver.h"
#include "runtime/memory.h"

namespace dl::opencl {

class Queue;

// Properties that a device reports.
struct DeviceFacts {
  cl::Bits type;
  std::string name, platform, version, driver_version, extensions, il_version;
  uint64_t memory, most_allocated, local_memory, parameter_bytes;
  uint32_t compute_units, group_threads;
  uint32_t group_sizes[3];
  // Kernels exchange values in sub-groups, otherwise in the memory of work-groups.
  bool sub_groups;
};

class Device {
 public:
  Device(const Driver& driver, cl::Platform platform, cl::DeviceId id, DeviceFacts facts);

  const Driver& driver() const { return driver_; }
  cl::DeviceId id() const { return id_; }
  const DeviceFacts& facts() const { return facts_; }
  int index() const { return index_; }
  // Identifies the device and its driver: compiled code is valid for the same text only.
  std::string identity() const;

  // Created on first use. All throw kit::Error.
  cl::Context context();
  Memory& memory();
  Queue& default_queue();

  void* allocate(size_t bytes);
  void release(void* memory);
  uint64_t allocated() const { return allocated_.load(std::memory_order_relaxed); }

  // Waits for all queues.
  void synchronize();
  void add(Queue* queue);
  void remove(Queue* queue);

 private:
  friend class Devices;
  void open();

  const Driver& driver_;
  const cl::Platform platform_;
  const cl::DeviceId id_;
  const DeviceFacts facts_;
  int index_ = -1;
  std::once_flag opened_;
  cl::Context context_ = nullptr;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Queue> default_queue_;
  std::mutex mutex_;  // of the members below
  std::set<Queue*> queues_;
  std::map<void*, size_t> sizes_;
  std::atomic<uint64_t> allocated_{0};
};

class Devices {
 public:
  static constexpr int kMost = 64;

  static Devices& here();

  // Number of usable devices. Opens the drivers on the first call; throws kit::Error if none can be
  // opened.
  int count();
  // Why there is no device, after `count` has returned 0.
  const std::string& reason() const { return reason_; }
  Device& at(int index) { return *found_[static_cast<size_t>(index)]; }
  // The device of the calling thread, for NULL streams.
  Device& current();
  int current_index() const;
  void set_current(int index);

 private:
  void find();
  void add_devices_of(const Driver& driver);

  std::mutex mutex_;
  bool searched_ = false;
  std::vector<std::unique_ptr<Device>> found_;
  std::string reason_;
};

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_DEVICE_H_
