// How the tensors of a convolution lie. Dimensions of size 1 may have any stride; libraries take it
// at its word, and tell from it which layout a tensor has.
#include "library/convolution_layout.h"

#include <algorithm>
#include <array>

namespace dl::cuda {
namespace {

// The dimensions from the innermost one.
std::array<int, 5> order_of(int dimensions, bool channels_last) {
  std::array<int, 5> order{};
  int at = 0;
  if (channels_last) order[at++] = 1;
  for (int d = dimensions - 1; d > 1; --d) order[at++] = d;
  if (!channels_last) order[at++] = 1;
  order[at] = 0;
  return order;
}

void set_dense(Images* images, int dimensions, bool channels_last) {
  int64_t step = 1;
  const auto order = order_of(dimensions, channels_last);
  for (int i = 0; i < dimensions; ++i) {
    images->strides[order[i]] = step;
    step *= images->sizes[order[i]];
  }
}

// False: two elements may share a place. What has size 1 lies beyond all else.
bool set_apart(Images* images, int dimensions) {
  const int64_t *sizes = images->sizes, *strides = images->strides;
  int64_t end = 1;
  for (int d = 0; d < dimensions; ++d) {
    if (sizes[d] == 1) continue;
    int64_t within = 0;  // how far all that is nearer together reaches
    for (int e = 0; e < dimensions; ++e) {
      if (strides[e] < strides[d] || (strides[e] == strides[d] && e > d))
        within += (sizes[e] - 1) * strides[e];
    }
    if (strides[d] <= within) return false;
    end = std::max(end, sizes[d] * strides[d]);
  }
  for (int d = 0; d < dimensions; ++d) {
    if (sizes[d] == 1) images->strides[d] = end;
  }
  return true;
}

}  // namespace

bool lies_densely(const Images& images, int dimensions, bool channels_last) {
  Images dense = images;
  set_dense(&dense, dimensions, channels_last);
  for (int d = 0; d < dimensions; ++d) {
    if (images.sizes[d] != 1 && images.strides[d] != dense.strides[d]) return false;
  }
  return true;
}

bool settle_strides(Convolution* call) {
  Images* const tensors[] = {&call->input, &call->weight, &call->output};
  const int dimensions = call->dimensions();
  // What could be either goes with the others.
  const bool last = std::any_of(std::begin(tensors), std::end(tensors), [&](const Images* images) {
    return lies_densely(*images, dimensions, true) && !lies_densely(*images, dimensions, false);
  });
  for (Images* images : tensors) {
    if (lies_densely(*images, dimensions, last)) {
      set_dense(images, dimensions, last);
    } else if (lies_densely(*images, dimensions, !last)) {
      set_dense(images, dimensions, !last);
    } else if (!set_apart(images, dimensions)) {
      return false;
    }
  }
  return true;
}

}  // namespace dl::cuda
