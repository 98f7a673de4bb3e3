// Resizing of one axis: the input cells and weights of a result.
#ifndef DL_KERNELS_IMAGE_RESIZE_SHAPE_H_
#define DL_KERNELS_IMAGE_RESIZE_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct AxisResize {
  int64_t input, output;
  bool cubic, align_corners;

  DL_FN int64_t taps() const { return cubic ? 4 : 2; }

  // Position of output cell `o` on the input: `past` / `parts` beyond the cell `index`. Computed in
  // integers, since differences of rounded positions would cancel.
  struct Position {
    int64_t index, past, parts;
  };
  DL_FN Position position(int64_t o) const {
    int64_t at, parts;
    if (align_corners) {
      at = o * (input - 1);
      parts = output > 1 ? output - 1 : 1;
      if (output <= 1) at = 0;
    } else {
      at = (2 * o + 1) * input - output;
      parts = 2 * output;
      if (at < 0 && !cubic) at = 0;
    }
    int64_t index = at / parts;
    if (index * parts > at) --index;
    if (index > input - 1) return {input - 1, 0, 1};
    return {index, at - index * parts, parts};
  }
};

// Result `t` is the sum of the cells cells[e] with weights[e], for e in [begins[t], begins[t+1]).
template <class C>
struct Taps {
  const int32_t* begins;
  const int32_t* cells;
  const C* weights;
  int64_t fixed;  // number of cells if it is the same for all results, else 0

  // Return the weight of cell `i` in result `o`, which has `count` cells.
  DL_FN C weight_of(int64_t i, int64_t o, int64_t count) const {
    C total = 0;
    for (int64_t k = 0; k < count; ++k) {
      if (cells[o * count + k] == i) total += weights[o * count + k];
    }
    return total;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_RESIZE_SHAPE_H_
