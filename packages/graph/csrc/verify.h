// Conditions that a graph must meet before it runs.
#pragma once

#include "concrete.h"

namespace dl::graph {

// Verifies for all sizes: dtypes, write permissions and stored plans. Verifies for the smallest and
// the largest sizes that the guards allow: all conditions of `verify_sizes`. Throws Failure.
void verify(const Graph& graph);

// Checks for these sizes that each call reads only memory that was written before, and that written
// arguments do not overlap other arguments unless the operator allows it. Throws Failure.
void verify_sizes(const Entry& entry, const Concrete& sized);

}  // namespace dl::graph
