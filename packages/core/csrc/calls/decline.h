// The reason why a native call did not happen, for the fallback that follows on the same thread.
// Written only where a call leaves the native path, so that native calls pay nothing for it.
#pragma once

#include <cstdint>
#include <optional>

#include "diopi/functions.h"

namespace dl::core {

struct Site;

struct Decline {
  enum class Kind : uint8_t {
    none,
    declined,     // the vendor's operator returned `code`
    absent,       // the vendor does not have the operator
    fixed_order,  // deterministic algorithms are requested
  };
  Kind kind;
  diopiError_t code;
  const Site* site;           // NULL for fixed_order
  const char* contract_name;  // static; NULL for fixed_order
  uint64_t native_calls;      // this thread's calls before the note, which a later call makes stale
};

// Records that the vendor declined a call of an operator of `site`.
void note_decline(const Site& site, const char* contract_name, diopiError_t code);
// Records that the vendor does not have the operator that a call needs. Returns false, as a native
// function does that leaves the call to the fallback.
bool note_absence(const Site& site, const char* contract_name);
// Records that the CPU is asked for because its order of operations is fixed.
void note_fixed_order();

// Returns what was recorded since the last native call of this thread, if it concerns `site`, and
// forgets it. The vendor's words still belong to the call that was declined.
std::optional<Decline> take_decline(const Site* site);

}  // namespace dl::core
