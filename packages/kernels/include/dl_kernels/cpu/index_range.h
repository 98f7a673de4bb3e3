// CPU: the range of indexes in one loop.
#ifndef DL_KERNELS_CPU_INDEX_RANGE_H_
#define DL_KERNELS_CPU_INDEX_RANGE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

struct IndexRange {
  int64_t low, high;
};

inline IndexRange index_range(const Launch&, const int64_t* indexes, int64_t count) {
  int64_t low = 0, high = -1;
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < count; ++i) {
    low = indexes[i] < low ? indexes[i] : low;
    high = indexes[i] > high ? indexes[i] : high;
  }
  return {low, high};
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_INDEX_RANGE_H_
