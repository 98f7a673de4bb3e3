// A collective call on the vendor's communicator, from the caller's tensors to its Work object.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "distributed/communicator.h"
#include "distributed/failure.h"
#include "distributed/lane.h"

namespace dl::core::distributed {

// A tensor of a call and how the call uses it.
struct Part {
  at::Tensor tensor;
  Use use;
};

struct DeviceCall {
  c10d::OpType type;
  const char* operation;
  std::vector<Part> parts;
  std::vector<at::Tensor> outputs;
  // Enqueues the call on contiguous memory, in the order of `parts`. Returns false if the vendor
  // does not implement it.
  std::function<bool(const Communicator&, const std::vector<at::Tensor>& dense, void* stream)>
      enqueue;
  // Runs when `dense` has its values, in the order of the current stream.
  std::function<void(const std::vector<at::Tensor>& dense)> afterwards{};
};

// Enqueues the call after the work on its device's current stream, on a separate stream. Returns
// NULL, without effect, if the vendor does not implement the call. All ranks get the same result
// for the same call.
c10::intrusive_ptr<c10d::Work> start(const std::shared_ptr<Communicator>& communicator,
                                     const DeviceCall& call, const GroupFacts& group);

}  // namespace dl::core::distributed
