// CPU: the range of indices, computed in one loop.
#ifndef DL_KERNELS_CPU_CHECKED_POSITIONS_H_
#define DL_KERNELS_CPU_CHECKED_POSITIONS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/check.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/index/out_of_bounds.h"

DL_KERNELS_BEGIN

class CheckedPositions {
 public:
  diopiError_t open(const Launch& launch, const char* op, const int64_t* indexes, int64_t count,
                    int64_t dim, int64_t extent, Workspace<int64_t>&) {
    const IndexRange range = open_unchecked(indexes, count);
    return check_items(launch, op, 1, detail::OutOfBounds{&range, dim, extent});
  }
  // For indices that are not used to read memory.
  IndexRange open_unchecked(const int64_t* indexes, int64_t count) {
    int64_t low = 0, high = -1;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i) {
      low = indexes[i] < low ? indexes[i] : low;
      high = indexes[i] > high ? indexes[i] : high;
    }
    data_ = indexes;
    from_end_ = low < 0;
    return {low, high};
  }

  const int64_t* data() const { return data_; }
  bool from_end() const { return from_end_; }
  bool lasts(const int64_t* indexes) const { return data_ == indexes; }

 private:
  const int64_t* data_ = nullptr;
  bool from_end_ = false;
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_CHECKED_POSITIONS_H_
