// GPU: the range of indices, computed by a reduction that also copies them.
#ifndef DL_KERNELS_GPU_CHECKED_POSITIONS_H_
#define DL_KERNELS_GPU_CHECKED_POSITIONS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/check.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/total.h"
#include "dl_kernels/index/out_of_bounds.h"

DL_KERNELS_BEGIN

namespace gpu {

// Copy an index, counted from the start, or 0 if it is out of bounds; return the range of this
// index.
struct CopyPosition {
  const int64_t* indexes;
  int64_t* to;
  int64_t extent;

  DL_FN IndexRange operator()(int64_t i) const {
    const int64_t at = indexes[i];
    to[i] = at < -extent || at >= extent ? 0 : at < 0 ? at + extent : at;
    return {at, at};
  }
};

struct JoinRanges {
  DL_FN IndexRange operator()(const IndexRange& a, const IndexRange& b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
};

}  // namespace gpu

class CheckedPositions {
 public:
  diopiError_t open(const Launch& launch, const char* op, const int64_t* indexes, int64_t count,
                    int64_t dim, int64_t extent, Workspace<int64_t>& room) {
    int64_t* const to = room.reserve(launch, count);
    data_ = to;
    const Workspace<IndexRange> found(launch, 1);
    gpu::total(launch, count, IndexRange{0, -1}, gpu::JoinRanges{},
               gpu::CopyPosition{indexes, to, extent}, found.data());
    // With a size of 0, no position is valid that could replace the invalid ones.
    return gpu::raise_first(launch, op, nullptr, 0, detail::OutOfBounds{found.data(), dim, extent},
                            extent == 0);
  }
  // For indices that are not used to read memory.
  void open_unchecked(const int64_t* indexes, int64_t) {
    data_ = indexes;
    from_end_ = true;
  }

  const int64_t* data() const { return data_; }
  bool from_end() const { return from_end_; }
  bool lasts(const int64_t*) const { return true; }

 private:
  const int64_t* data_ = nullptr;
  bool from_end_ = false;
};

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CHECKED_POSITIONS_H_
