// Along which dimensions one call can run in pieces.
#pragma once

#include <vector>

#include "concrete.h"

namespace dl::graph {

struct Cut {
  // The sizes of the dimensions that can be cut, from the outermost one; empty: none can.
  std::vector<int64_t> space;
  // For each tensor, in the order of each_tensor, and each dimension of `space`: the dimension of
  // the tensor that is cut with it, or -1 where every piece needs all of the tensor.
  std::vector<std::vector<int32_t>> dims;
  const char* reason = "";  // why none can

  bool possible() const { return !space.empty(); }
};

Cut cut_of(const Concrete& sized, const Call& call);

}  // namespace dl::graph
