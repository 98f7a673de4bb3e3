// Context of a session's calls: the host services for operators, such as memory and streams.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "tensor.h"

namespace dl::graph {

// Returns the functions of all tensor handles of graphs.
const dl_handle_ops_t& handle_ops();

class Context {
 public:
  explicit Context(const Device& device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  diopiContextHandle_t handle() { return reinterpret_cast<diopiContextHandle_t>(&prefix_.known); }

  // Called before each call. Device memory that the previous call required is reused, because all
  // work is on one stream.
  void begin_call() {
    if (required_used_) reset();
  }

  // Waits for the stream. Throws Failure if work on it found an error in its data.
  void synchronize();

  // Returns the failure of a host function during the last call; empty if there was none.
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
  // Device memory that calls require: blocks that are filled in order, each from its start.
  std::vector<DeviceMemory> blocks_;
  size_t block_ = 0;
  uint64_t used_ = 0;
  // Host memory that calls require; an asynchronous device may read it until it is synchronized.
  std::deque<std::vector<int64_t>> host_memory_;
  DeviceMemory word_;
  std::string failure_;
};

}  // namespace dl::graph
