// The context of a session's calls: what the host does for the operators that run in it.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "tensor.h"

namespace dl::graph {

// The functions behind all handles of graphs.
const dl_handle_ops_t& handle_ops();

class Context {
 public:
  explicit Context(const Device& device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  diopiContextHandle_t handle() { return reinterpret_cast<diopiContextHandle_t>(&prefix_.known); }

  // Before each call. Memory of the device that the last one required is used again: all work is
  // on one stream.
  void begin_call() {
    if (required_used_) reset();
  }

  // Waits for the stream. Throws Failure: work on it found an error in its data.
  void synchronize();

  // Failure of a host function during the call that has just failed; empty if there was none.
  std::string take_failure() { return std::exchange(failure_, std::string()); }

  Handle& require(std::vector<int64_t> shape, std::vector<int64_t> strides, int32_t dtype,
                  int32_t place);
  dl_device_error_t* error_word();
  void failed(const char* why) { failure_ = why; }
  static Context& of(diopiContextHandle_t ctx);

 private:
  struct Prefix {
    dl_context_prefix_t known{};
    Context* self = nullptr;
  };

  void reset();
  void* require_memory(uint64_t bytes);

  Prefix prefix_;
  const Device& device_;
  std::deque<Handle> required_;
  bool required_used_ = false;
  // Device memory of calls: blocks one after the other, each filled from its start.
  std::vector<DeviceMemory> blocks_;
  size_t block_ = 0;
  uint64_t used_ = 0;
  // Host memory of calls, which an asynchronous device may read until the next synchronization.
  std::deque<std::vector<int64_t>> host_memory_;
  DeviceMemory word_;
  std::string failure_;
};

}  // namespace dl::graph
