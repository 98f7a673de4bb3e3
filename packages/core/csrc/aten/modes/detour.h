// Detours: operators redirected to an observer or to torch's decomposition.
//
// A detour is a kernel that is registered over the existing one and removed later. An operator
// without a detour runs exactly the same code as if detours did not exist.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

namespace dl::core {

// Called instead of the operator, with its arguments on the stack. It calls pass() once, which
// replaces the arguments with the results.
using Watcher = void (*)(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack);
void set_watcher(Watcher watcher);
void pass(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

// Disables the watchers for this thread, because a watcher calls operators too.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  bool outer_;
};

// Sets the watched overloads, for all threads. Each must be watchable.
void watch(const std::vector<std::string>& overloads);
// Sets the overloads that run torch's decomposition instead of their kernel, for all threads. Each
// must be decomposable.
void decompose(const std::vector<std::string>& overloads);

// Returns the overloads that reach a kernel of this device unchanged: those with a kernel in core,
// and those that run on the CPU. torch decomposes the others before that. Views are excluded,
// because they compute nothing.
std::vector<std::string> watchable_operators();
// Returns the overloads for which core has a kernel and torch a decomposition.
std::vector<std::string> decomposable_operators();

}  // namespace dl::core
