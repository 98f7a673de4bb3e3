// The operators that a library lists for one target, validated.
#pragma once

#include <string>
#include <vector>

#include "dl/added_operators.h"

namespace dl::added {

struct Listing {
  std::string version;
  std::vector<dl_operator_t> operators;  // each has a name; functions are code or NULL
  const char* (*last_error)() = nullptr;
  std::string defect;   // violation of the interface, as a clause; empty: none
  std::string refusal;  // the library's own error; empty: none
};

// Calls the entry and validates what it returns. Never throws except for exhausted memory.
Listing list_operators(dl_operators_entry_v1_t entry, const dl_operators_target_t& target);

}  // namespace dl::added
