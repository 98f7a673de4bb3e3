// What must be so of a graph before anything of it runs.
#pragma once

#include "concrete.h"

namespace dl::graph {

// For all sizes: dtypes, who may write what, and stored plans. For the smallest and the largest
// sizes that the guards allow: all of `verify_sizes`. Throws Failure.
void verify(const Graph& graph);

// For these sizes: what a call reads was written before, and what it writes is no other argument of
// it, unless the operator allows that. Throws Failure.
void verify_sizes(const Entry& entry, const Concrete& sized);

// Two views with the same elements in the same order.
bool same_view(const ConcreteView& a, const ConcreteView& b);

}  // namespace dl::graph
