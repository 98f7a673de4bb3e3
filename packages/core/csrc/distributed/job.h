// One call of a collective over gloo, from the tensors of the caller to their results.
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

  // The host tensors of lanes that are added here.
  at::Tensor add(const at::Tensor& tensor, Use use);
  std::vector<at::Tensor> add(const std::vector<at::Tensor>& tensors, Use use);
  // The same as bytes, for what is moved and not computed with: gloo knows few dtypes.
  at::Tensor add_bytes(const at::Tensor& tensor, Use use);
  std::vector<at::Tensor> add_bytes(const std::vector<at::Tensor>& tensors, Use use);

  // The host waits until all that is read is there, and the memory of all outputs is free.
  void wait_for_inputs() const;
  // Of a host tensor whose values are there. The reference lasts as long as the job.
  Reduction& add_reduction(const at::Tensor& host, const c10d::ReduceOp& op);
  // On any thread: computes what is left to do and gives the outputs their values, in the order of
  // the current streams.
  void bring_back(int ranks) const;
  // Of the dl tensors; empty where all are on the CPU.
  std::vector<c10::Device> devices() const;
  CallFacts facts() const;

  const char* operation;
  std::vector<at::Tensor> outputs;
  // The rank that this one talks to, -1 for all.
  int peer = -1;
  // Done on the host between gloo and the way back.
  std::vector<std::function<void()>> afterwards;

 private:
  std::vector<Lane> lanes_;
  std::vector<std::shared_ptr<Reduction>> reductions_;
};

// "all_reduce of float32 [4] and 2 more on dl:0".
std::string described(const char* operation, const at::Tensor& first, size_t more);
// Whether all have as many elements.
bool alike(const std::vector<at::Tensor>& tensors);
// Bytes of a contiguous tensor in one dimension.
at::Tensor as_bytes(const at::Tensor& tensor);

}  // namespace dl::core::distributed
