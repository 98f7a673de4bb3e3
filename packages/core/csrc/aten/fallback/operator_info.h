// What the fallback needs to know of an operator's schema, looked up once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <string>
#include <vector>

namespace dl::core {

struct OperatorInfo {
  std::string name;            // "add.Tensor"; other namespaces keep theirs: "my::op"
  int generator_index = -1;    // the Generator? argument
  bool random = false;         // draws numbers
  int cpu_indices = -1;        // the argument whose tensors may stay on the CPU, as with CUDA
  bool whole_storage = false;  // looks beyond the span of its arguments
  std::vector<bool> writes;    // per argument
  bool mutates = false;        // writes to one or more
  bool silent = false;         // to one whose version stays
  bool is_torchs = false;      // of the namespace aten, whose rules for shared memory are known
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> nanoseconds{0};
  std::atomic<bool> warned{false};
};

OperatorInfo& operator_info(const c10::OperatorHandle& op);
// Those that were looked up so far.
std::vector<OperatorInfo*> known_operators();

}  // namespace dl::core
