// Sampling by inversion of cumulative weights.
#ifndef DL_KERNELS_RANDOM_RUNNING_WEIGHTS_H_
#define DL_KERNELS_RANDOM_RUNNING_WEIGHTS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// Return the first position whose cumulative weight exceeds `target`; if there is none, the last
// one with a positive weight.
DL_FN int64_t find_weight(const double* sums, int64_t n, double target) {
  const double total = sums[n - 1];
  int64_t low = 0, high = n - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sums[middle] > target || sums[middle] >= total) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_RUNNING_WEIGHTS_H_
