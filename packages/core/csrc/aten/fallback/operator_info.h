// Properties of an operator that the fallback derives from its schema, once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <string>
#include <vector>

namespace dl::core {

struct FallbackReason;
struct Site;

struct OperatorInfo {
  std::string name;          // "add.Tensor"; with a namespace except aten: "my::op"
  int generator_index = -1;  // index of the Generator? argument
  bool random = false;       // uses random numbers
  // index of the argument whose tensors may stay on the CPU, as on CUDA
  int cpu_indices = -1;
  bool whole_storage = false;  // accesses memory beyond the span of its arguments
  std::vector<bool> writes;    // per argument
  bool mutates = false;        // writes to at least one argument
  bool silent = false;         // writes to an argument without bumping its version
  bool is_torchs = false;      // of namespace aten, whose rules for shared memory are known
  const Site* site = nullptr;  // of the kernel that calls the vendor; NULL if there is none
  std::atomic<bool> has_own_kernel{false};        // a kernel of dl-core left a call to the fallback
  std::atomic<FallbackReason*> reasons{nullptr};  // with the counts of calls; the latest one first
  std::atomic<bool> warned{false};

  uint64_t calls() const;        // since the last reset
  uint64_t nanoseconds() const;  // since the last reset
};

OperatorInfo& operator_info(const c10::OperatorHandle& op);
// Operators that have been looked up so far.
std::vector<OperatorInfo*> known_operators();

}  // namespace dl::core
