// Error messages of collectives: the operation, the ranks, the timeout and the remedy.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

namespace dl::core::distributed {

// Facts about the group of a call, for its errors.
struct GroupFacts {
  std::string name;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;
  std::chrono::milliseconds timeout{0};
};

// Facts about the call.
struct CallFacts {
  std::string description;
  // The rank that the call communicates with, -1 for all.
  int peer = -1;
};

// Converts `error` to a DistBackendError that names the call. An error that names it already is
// returned unchanged.
std::exception_ptr explain(std::exception_ptr error, const CallFacts& call,
                           const GroupFacts& group);
// Same, for the message of `library`, which is empty after a timeout.
std::exception_ptr explain(const std::string& library, const std::string& said,
                           const CallFacts& call, const GroupFacts& group);
// Raises the error of a wait with its own timeout; the call itself continues.
[[noreturn]] void raise_late(const CallFacts& call, const GroupFacts& group,
                             std::chrono::milliseconds waited);

}  // namespace dl::core::distributed
