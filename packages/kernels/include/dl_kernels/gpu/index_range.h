// GPU: the range of indexes as one reduction.
#ifndef DL_KERNELS_GPU_INDEX_RANGE_H_
#define DL_KERNELS_GPU_INDEX_RANGE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/total.h"

DL_KERNELS_BEGIN

struct IndexRange {
  int64_t low, high;
};

namespace detail {

struct RangeOfIndex {
  const int64_t* indexes;
  DL_FN IndexRange operator()(int64_t i) const { return {indexes[i], indexes[i]}; }
};

struct JoinRanges {
  DL_FN IndexRange operator()(const IndexRange& a, const IndexRange& b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
};

}  // namespace detail

inline IndexRange index_range(const Launch& launch, const int64_t* indexes, int64_t count) {
  const Workspace<IndexRange> found(launch, 1);
  gpu::total(launch, count, IndexRange{0, -1}, detail::JoinRanges{}, detail::RangeOfIndex{indexes},
             found.data());
  return fetch(launch, found.data());
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_INDEX_RANGE_H_
