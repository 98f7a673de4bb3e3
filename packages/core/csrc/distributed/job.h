// A collective call over gloo, from the caller's tensors to their results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/failure.h"
#include "distributed/lane.h"
#include "distributed/reduction.h"

namespace dl::core::distributed {

struct Job {
  explicit Job(const char* name) : operation(name) {}

  // Adds a tensor as a lane and returns its host tensor.
  at::Tensor add(const at::Tensor& tensor, Use use);
  std::vector<at::Tensor> add(const std::vector<at::Tensor>& tensors, Use use);
  // Same, as bytes, for data that is only transferred, because gloo supports few dtypes.
  at::Tensor add_bytes(const at::Tensor& tensor, Use use);
  std::vector<at::Tensor> add_bytes(const std::vector<at::Tensor>& tensors, Use use);

  // Blocks the host until all inputs are available and the memory of all outputs is free.
  void wait_for_inputs() const;
  // Adds the reduction of a host tensor whose values are available. The reference is valid as long
  // as the job.
  Reduction& add_reduction(const at::Tensor& host, const c10d::ReduceOp& op);
  // Runs on any thread: completes the computation and writes the outputs, in the order of the
  // current streams.
  void bring_back(int ranks) const;
  // Devices of the dl tensors; empty if all are on the CPU.
  std::vector<c10::Device> devices() const;
  CallFacts facts() const;

  const char* operation;
  std::vector<at::Tensor> outputs;
  // The rank that the call communicates with; -1: all ranks.
  int peer = -1;
  // Functions that run on the host after gloo and before the results are copied back.
  std::vector<std::function<void()>> afterwards;

 private:
  std::vector<Lane> lanes_;
  std::vector<std::shared_ptr<Reduction>> reductions_;
};

// Formats a description: "all_reduce of float32 [4] and 2 more on dl:0".
std::string describe(const char* operation, const at::Tensor& first, size_t more);
// Returns true if all tensors have the same number of elements.
bool alike(const std::vector<at::Tensor>& tensors);
// Returns the bytes of a contiguous tensor as a one-dimensional tensor.
at::Tensor as_bytes(const at::Tensor& tensor);

}  // namespace dl::core::distributed
