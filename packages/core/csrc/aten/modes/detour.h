// Operators taken out of the fast way while somebody watches them or wants torch's own.
//
// A detour is a kernel registered with the dispatcher over the one that is there, and taken away
// again: an operator without one runs exactly the code it would run if there were no detours.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

namespace dl::core {

// Gets a watched call in place of the operator, the arguments on the stack. Calls pass() once,
// which leaves the results there.
using Watcher = void (*)(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack);
void set_watcher(Watcher watcher);
void pass(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

// Makes the calls of this thread pass unwatched: a watcher calls operators too.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  bool outer_;
};

// Exactly these overloads are watched from now on, in all threads. Each has to be watchable.
void watch(const std::vector<std::string>& overloads);
// Exactly these run by torch's own decomposition from now on, in all threads, although there is a
// kernel for them. Each has to be decomposable.
void decompose(const std::vector<std::string>& overloads);

// Overloads that reach a kernel of this device as they are: those that core has, and those that run
// on the CPU. Others are taken apart by torch before. Views, which compute nothing, are left out.
std::vector<std::string> watchable_operators();
// Overloads that core has a kernel for and torch a decomposition.
std::vector<std::string> decomposable_operators();

}  // namespace dl::core
