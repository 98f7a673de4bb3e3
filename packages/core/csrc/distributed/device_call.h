// One call of a collective by the vendor's communicator, from the caller's tensors to its work.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "distributed/communicator.h"
#include "distributed/failure.h"
#include "distributed/lane.h"

namespace dl::core::distributed {

// A tensor of a call and what is done with it.
struct Part {
  at::Tensor tensor;
  Use use;
};

struct DeviceCall {
  c10d::OpType type;
  const char* operation;
  std::vector<Part> parts;
  std::vector<at::Tensor> outputs;
  // Enqueues the call on contiguous memory, in the order of `parts`. False where the vendor does
  // not offer it.
  std::function<bool(const Communicator&, const std::vector<at::Tensor>& dense, void* stream)>
      enqueue;
  // What is left to do once `dense` has its values, in the order of the current stream.
  std::function<void(const std::vector<at::Tensor>& dense)> afterwards{};
};

// Enqueues the call behind the current stream of its device, on a stream of its own. NULL where the
// vendor does not offer it; then nothing has happened. Ranks that call alike are answered alike.
c10::intrusive_ptr<c10d::Work> start(const std::shared_ptr<Communicator>& communicator,
                                     const DeviceCall& call, const GroupFacts& group);

}  // namespace dl::core::distributed
