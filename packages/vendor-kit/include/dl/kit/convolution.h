// A convolution or one of its gradients as libraries are asked for it, and how its tensors lie.
// Dimensions of size 1 may have any stride; libraries take it at its word, and tell from it which
// layout a tensor has.
#ifndef DL_KIT_CONVOLUTION_H_
#define DL_KIT_CONVOLUTION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>

#include "dl/kit/base.h"

DL_KIT_BEGIN

// A tensor of a convolution: samples × channels × positions, or filters × channels × taps.
struct Images {
  int dtype;  // diopiDtype_t
  const void* data;
  int64_t sizes[5], strides[5];  // in elements; two and one for each axis
};

enum class Direction { kForward, kInputGradient, kWeightGradient };

struct Convolution {
  Direction direction;  // which of the three is written
  int axes;             // 2 or 3
  Images input, weight, output;
  int64_t stride[3], dilation[3], before[3], after[3];  // `before` and `after`: what is padded
  void* stream;
  std::function<void*(int64_t bytes)> workspace;  // on the device, for the length of the call
  // Writes what the library needs in memory besides, once it is known that it takes the call: what
  // the result is added to, or copies of what is read.
  std::function<void()> prepare;

  int dimensions() const { return axes + 2; }
  const Images& result() const {
    return direction == Direction::kForward         ? output
           : direction == Direction::kInputGradient ? input
                                                    : weight;
  }
};

// The dimensions from the innermost one, of a tensor that lies densely.
inline std::array<int, 5> dense_order(int dimensions, bool channels_last) {
  std::array<int, 5> order{};
  int at = 0;
  if (channels_last) order[at++] = 1;
  for (int d = dimensions - 1; d > 1; --d) order[at++] = d;
  if (!channels_last) order[at++] = 1;
  order[at] = 0;
  return order;
}

// Gives a tensor the strides of one that lies densely.
inline void lay_densely(Images* images, int dimensions, bool channels_last) {
  int64_t step = 1;
  const auto order = dense_order(dimensions, channels_last);
  for (int i = 0; i < dimensions; ++i) {
    images->strides[order[i]] = step;
    step *= images->sizes[order[i]];
  }
}

namespace detail {

// False: two elements may share a place. What has size 1 lies beyond all else.
inline bool set_apart(Images* images, int dimensions) {
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

}  // namespace detail

// Whether dimensions lie in the order of such a tensor, as those of a part of one do.
inline bool lies_in_order(const Images& images, int dimensions, bool channels_last) {
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

// Whether positions lie densely one after the other, and channels around them, or, where
// `channels_last`, the other way round.
inline bool lies_densely(const Images& images, int dimensions, bool channels_last) {
  Images dense = images;
  lay_densely(&dense, dimensions, channels_last);
  for (int d = 0; d < dimensions; ++d) {
    if (images.sizes[d] != 1 && images.strides[d] != dense.strides[d]) return false;
  }
  return true;
}

// Gives dimensions of size 1 the strides of the layout that the tensors have. False: elements of a
// tensor share a place, as those of an expanded one do, or its dimensions lie in another order,
// which libraries accept and read wrongly (cuDNN 9 does, in gradients).
inline bool settle_strides(Convolution* call) {
  Images* const tensors[] = {&call->input, &call->weight, &call->output};
  const int dimensions = call->dimensions();
  // What could be either goes with the others.
  const bool last = std::any_of(std::begin(tensors), std::end(tensors), [&](const Images* images) {
    return lies_densely(*images, dimensions, true) && !lies_densely(*images, dimensions, false);
  });
  for (Images* images : tensors) {
    if (lies_densely(*images, dimensions, last)) {
      lay_densely(images, dimensions, last);
    } else if (lies_densely(*images, dimensions, !last)) {
      lay_densely(images, dimensions, !last);
    } else if (!(lies_in_order(*images, dimensions, last) ||
                 lies_in_order(*images, dimensions, !last)) ||
               !detail::set_apart(images, dimensions)) {
      return false;
    }
  }
  return true;
}

// The largest power of two, of 16 at most, that the address is a multiple of.
inline int64_t alignment_of(const void* data) {
  const uint64_t bits = reinterpret_cast<uint64_t>(data) | 16;
  return static_cast<int64_t>(bits & (~bits + 1));
}

DL_KIT_END

#endif  // DL_KIT_CONVOLUTION_H_
