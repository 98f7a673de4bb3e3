// Dimensions along which one call can be split into blocks.
#pragma once

#include <vector>

#include "concrete.h"

namespace dl::graph {

struct Cut {
  // Sizes of the dimensions that can be cut, from the outermost one; empty if none can be cut.
  std::vector<int64_t> space;
  // For each tensor, in the order of each_tensor, and each dimension of `space`: the dimension of
  // the tensor that is cut along with it, or -1 if every block needs the whole tensor.
  std::vector<std::vector<int32_t>> dims;
  const char* reason = "";  // why no dimension can be cut

  bool possible() const { return !space.empty(); }
};

Cut cut_of(const Concrete& sized, const Call& call);

}  // namespace dl::graph
