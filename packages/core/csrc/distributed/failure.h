// Error messages of collectives: the operation, the ranks, the timeout and the remedy.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

namespace dl::core::distributed {

// Properties of a call's group, for error messages.
struct GroupFacts {
  std::string name;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;
  std::chrono::milliseconds timeout{0};
};

// Properties of the call.
struct CallFacts {
  std::string description;
  // The rank that the call communicates with; -1: all ranks.
  int peer = -1;
};

// Converts `error` to a DistBackendError that names the call. An error that already names it is
// returned unchanged.
std::exception_ptr explain(std::exception_ptr error, const CallFacts& call,
                           const GroupFacts& group);
// Same, for the message of `library`, which is empty after a timeout.
std::exception_ptr explain(const std::string& library, const std::string& said,
                           const CallFacts& call, const GroupFacts& group);
// Raises the error of a wait() that has its own timeout; the call itself continues.
[[noreturn]] void raise_late(const CallFacts& call, const GroupFacts& group,
                             std::chrono::milliseconds waited);

}  // namespace dl::core::distributed
