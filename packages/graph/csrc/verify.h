// Conditions that a graph must meet before it runs.
#pragma once

#include "concrete.h"

namespace dl::graph {

// For all sizes: dtypes, who may write what, and stored plans. For the smallest and the largest
// sizes that the guards allow: all of `verify_sizes`. Throws Failure.
void verify(const Graph& graph);

// Checks for these sizes that each call reads only memory that was written before, and that what it
// writes overlaps no other argument unless the operator allows that. Throws Failure.
void verify_sizes(const Entry& entry, const Concrete& sized);

}  // namespace dl::graph
