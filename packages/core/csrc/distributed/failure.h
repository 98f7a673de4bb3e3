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

// `error` as a DistBackendError that names the call. One that does already is returned as it is.
std::exception_ptr explained(std::exception_ptr error, const CallFacts& call,
                             const GroupFacts& group);
// The same for what `library` has said; it said nothing where the time is over.
std::exception_ptr explained(const std::string& library, const std::string& said,
                             const CallFacts& call, const GroupFacts& group);
// For a wait that has its own timeout: the call itself goes on.
[[noreturn]] void raise_late(const CallFacts& call, const GroupFacts& group,
                             std::chrono::milliseconds waited);

}  // namespace dl::core::distributed
