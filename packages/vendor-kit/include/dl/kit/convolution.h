// A convolution, or one of its gradients, as vendor libraries expect it, with the memory layout of
// its tensors. PyTorch allows any stride for dimensions of size 1, but libraries use the strides as
// given and derive the layout from them.
#ifndef DL_KIT_CONVOLUTION_H_
#define DL_KIT_CONVOLUTION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>

#include "dl/kit/base.h"

DL_KIT_BEGIN

// A tensor of a convolution: samples × channels × spatial axes, or filters × channels × taps.
struct Images {
  int dtype;  // diopiDtype_t
  const void* data;
  int64_t sizes[5], strides[5];  // in elements; two and one for each axis
};

enum class Direction { kForward, kInputGradient, kWeightGradient };

struct Convolution {
  Direction direction;  // which of the three tensors is written
  int axes;             // 2 or 3
  Images input, weight, output;
  int64_t stride[3], dilation[3], before[3], after[3];  // `before` and `after`: padding
  void* stream;
  std::function<void*(int64_t bytes)> workspace;  // device memory, valid during the call
  // Initializes the memory that the call needs, once the library has accepted it: the initial value
  // of an accumulated result, or copies of inputs.
  std::function<void()> prepare;

  int dimensions() const { return axes + 2; }
  const Images& result() const {
    return direction == Direction::kForward         ? output
           : direction == Direction::kInputGradient ? input
                                                    : weight;
  }
};

// Dimensions of a dense tensor, innermost first.
inline std::array<int, 5> dense_order(int dimensions, bool channels_last) {
  std::array<int, 5> order{};
  int at = 0;
  if (channels_last) order[at++] = 1;
  for (int d = dimensions - 1; d > 1; --d) order[at++] = d;
  if (!channels_last) order[at++] = 1;
  order[at] = 0;
  return order;
}

// Gives a tensor dense strides.
inline void set_dense_strides(Images* images, int dimensions, bool channels_last) {
  int64_t step = 1;
  const auto order = dense_order(dimensions, channels_last);
  for (int i = 0; i < dimensions; ++i) {
    images->strides[order[i]] = step;
    step *= images->sizes[order[i]];
  }
}

namespace detail {

// Sets strides of dimensions of size 1 to the extent of all other dimensions. False if elements
// of the tensor may overlap.
inline bool resolve_unit_strides(Images* images, int dimensions) {
  const int64_t *sizes = images->sizes, *strides = images->strides;
  int64_t end = 1;
  for (int d = 0; d < dimensions; ++d) {
    if (sizes[d] == 1) continue;
    int64_t within = 0;  // extent of all inner dimensions
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

}  // namespace detail

// Returns true if the dimensions have the order of a dense tensor, or of a slice of one.
inline bool has_dense_order(const Images& images, int dimensions, bool channels_last) {
  int64_t step = 0;
  const auto order = dense_order(dimensions, channels_last);
  for (int i = 0; i < dimensions; ++i) {
    const int d = order[i];
    if (images.sizes[d] == 1) continue;
    if (images.strides[d] < step) return false;
    step = images.strides[d];
  }
  return true;
}

// Returns true if the spatial axes are contiguous and inside the channels or, for `channels_last`,
// outside them.
inline bool is_dense(const Images& images, int dimensions, bool channels_last) {
  Images dense = images;
  set_dense_strides(&dense, dimensions, channels_last);
  for (int d = 0; d < dimensions; ++d) {
    if (images.sizes[d] != 1 && images.strides[d] != dense.strides[d]) return false;
  }
  return true;
}

// Gives dimensions of size 1 the strides of the layout that the tensors share. Returns false if
// elements of a tensor overlap, as in an expanded one, or if its dimensions have another order,
// which libraries accept but read incorrectly (cuDNN 9 does, in gradients).
inline bool normalize_strides(Convolution* call) {
  Images* const tensors[] = {&call->input, &call->weight, &call->output};
  const int dimensions = call->dimensions();
  // A tensor that fits both layouts gets the layout of the other tensors.
  const bool last = std::any_of(std::begin(tensors), std::end(tensors), [&](const Images* images) {
    return is_dense(*images, dimensions, true) && !is_dense(*images, dimensions, false);
  });
  for (Images* images : tensors) {
    if (is_dense(*images, dimensions, last)) {
      set_dense_strides(images, dimensions, last);
    } else if (is_dense(*images, dimensions, !last)) {
      set_dense_strides(images, dimensions, !last);
    } else if (!(has_dense_order(*images, dimensions, last) ||
                 has_dense_order(*images, dimensions, !last)) ||
               !detail::resolve_unit_strides(images, dimensions)) {
      return false;
    }
  }
  return true;
}

// The largest power of two, up to 16, that divides the address.
inline int64_t alignment_of(const void* data) {
  const uint64_t bits = reinterpret_cast<uint64_t>(data) | 16;
  return static_cast<int64_t>(bits & (~bits + 1));
}

DL_KIT_END

#endif  // DL_KIT_CONVOLUTION_H_
