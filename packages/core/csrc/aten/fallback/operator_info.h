// Properties of an operator that the fallback derives from its schema, once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <string>
#include <vector>

namespace dl::core {

struct OperatorInfo {
  std::string name;          // "add.Tensor"; other namespaces keep theirs: "my::op"
  int generator_index = -1;  // index of the Generator? argument
  bool random = false;       // uses random numbers
  // index of the argument whose tensors may stay on the CPU, as on CUDA
  int cpu_indices = -1;
  bool whole_storage = false;  // accesses memory beyond the span of its arguments
  std::vector<bool> writes;    // per argument
  bool mutates = false;        // writes to at least one argument
  bool silent = false;         // writes to an argument without bumping its version
  bool is_torchs = false;      // of namespace aten, whose rules for shared memory are known
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> nanoseconds{0};
  std::atomic<bool> warned{false};
};

OperatorInfo& operator_info(const c10::OperatorHandle& op);
// Operators that have been looked up so far.
std::vector<OperatorInfo*> known_operators();

}  // namespace dl::core
