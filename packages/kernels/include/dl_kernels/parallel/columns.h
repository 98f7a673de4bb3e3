// Rows that are added to one another in a fixed order, by items that take some neighbouring columns
// each.
#ifndef DL_KERNELS_PARALLEL_COLUMNS_H_
#define DL_KERNELS_PARALLEL_COLUMNS_H_

#include <cstdint>

#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// How many columns an item takes: a share for each core, in whole vectors, or one for a thread of a
// GPU.
inline int64_t columns_of_item(const Launch& launch, int64_t width) {
  if (DL_KERNELS_GPU) return 1;
  constexpr int64_t kLeast = 64;
  const int64_t share = (width + launch.threads() - 1) / launch.threads();
  return share < kLeast ? kLeast : (share + kLeast - 1) / kLeast * kLeast;
}

DL_KERNELS_END

#endif  // DL_KERNELS_PARALLEL_COLUMNS_H_
