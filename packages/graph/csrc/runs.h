// Contiguous runs of bytes that a view covers.
#pragma once

#include <utility>
#include <vector>

#include "concrete.h"

namespace dl::graph {

// Runs [begin, end) of bytes in a storage, sorted and disjoint.
using Runs = std::vector<std::pair<int64_t, int64_t>>;

// A view with more than 4096 runs is treated as one run over its whole span, as if it had no
// holes.
Runs runs_of(const ConcreteView& view);
void add(Runs& runs, const Runs& more);
bool covers(const Runs& runs, const Runs& wanted);
bool overlap(const Runs& a, const Runs& b);

}  // namespace dl::graph
