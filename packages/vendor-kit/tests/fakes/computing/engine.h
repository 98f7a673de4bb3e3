// The contract library that computes.
#pragma once

#include "tensors.h"

#pragma GCC visibility push(hidden)

namespace fake_computing {

// Returns and clears the message of the first error in data - an index out of range - since the
// last call on this thread; empty if there was none.
std::string take_data_error();

}  // namespace fake_computing

#pragma GCC visibility pop
