// Column sums: rows are added in a fixed order by items that handle a few adjacent columns each.
#ifndef DL_KERNELS_PARALLEL_COLUMNS_H_
#define DL_KERNELS_PARALLEL_COLUMNS_H_

#include <cstdint>

#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Number of columns per item: a share for each core, in whole vectors, or one for each GPU thread.
inline int64_t columns_of_item(const Launch& launch, int64_t width) {
  if (DL_KERNELS_GPU) return 1;
  constexpr int64_t kLeast = 64;
  const int64_t share = (width + launch.threads() - 1) / launch.threads();
  return share < kLeast ? kLeast : (share + kLeast - 1) / kLeast * kLeast;
}

DL_KERNELS_END

#endif  // DL_KERNELS_PARALLEL_COLUMNS_H_
