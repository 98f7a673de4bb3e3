// Shapes of reductions.
#pragma once

#include <algorithm>

#include "../operators/meaning.h"

#pragma GCC visibility push(hidden)

namespace fake_aclnn {

// Returns the dimensions as sorted, non-negative numbers. An empty list means all dimensions.
inline Sizes wrapped_dims(const Tensor& self, const Ints& dims) {
  Sizes result;
  for (const int64_t dim : dims.values) {
    demand(dim >= -std::max<int64_t>(self.rank(), 1) && dim < std::max<int64_t>(self.rank(), 1),
           "a dimension is out of range");
    if (self.rank() != 0) result.push_back(self.wrap(dim));
  }
  if (dims.values.empty()) {
    for (int64_t dim = 0; dim < self.rank(); ++dim) result.push_back(dim);
  }
  std::sort(result.begin(), result.end());
  demand(std::adjacent_find(result.begin(), result.end()) == result.end(),
         "a dimension is listed twice");
  return result;
}

// Returns the shape of self without the dimensions, or with 1 in their place.
inline Sizes reduced_sizes(const Tensor& self, const Sizes& dims, bool keep) {
  Sizes result;
  for (int64_t dim = 0; dim < self.rank(); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end())
      result.push_back(self.size(dim));
    else if (keep)
      result.push_back(1);
  }
  return result;
}

// Refuses an output of another shape.
inline void demand_reduced(const Tensor& out, const Tensor& self, const Sizes& dims, bool keep) {
  demand(out.sizes() == reduced_sizes(self, dims, keep), "out does not have the reduced shape");
}

inline Ints one_dim(int64_t dim) { return Ints{true, {dim}}; }
inline Ints many_dims(Sizes dims) { return Ints{!dims.empty(), std::move(dims)}; }

}  // namespace fake_aclnn

#pragma GCC visibility pop
