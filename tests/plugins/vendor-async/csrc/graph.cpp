#include "graph.h"

#include <string>
#include <utility>

#include "error.h"
#include "handle.h"

namespace dl::async_test {

void* Graphs::add(int32_t device, std::shared_ptr<Recording> graph) {
  void* handle = next_handle();
  const std::lock_guard lock(mutex_);
  graphs_[handle] = {device, std::move(graph)};
  return handle;
}

std::shared_ptr<Recording> Graphs::find(int32_t device, void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(handle);
  if (found == graphs_.end() || found->second.device != device) {
    throw Error(DL_INVALID_ARGUMENT,
                "the handle " + std::to_string(reinterpret_cast<uintptr_t>(handle)) +
                    " is not a graph of device " + std::to_string(device) +
                    "; pass what capture_end returned for this device and was not destroyed");
  }
  return found->second.graph;
}

void Graphs::remove(int32_t device, void* handle) {
  const auto graph = find(device, handle);  // its items are destroyed without the lock
  const std::lock_guard lock(mutex_);
  graphs_.erase(handle);
}

}  // namespace dl::async_test
