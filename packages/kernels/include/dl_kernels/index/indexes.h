// Bounds checks of index tensors. Indices are data: they are checked before they address memory.
#ifndef DL_KERNELS_INDEX_INDEXES_H_
#define DL_KERNELS_INDEX_INDEXES_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

namespace detail {

struct OutOfRange {
  const int64_t* indexes;
  int64_t low, high;

  DL_FN bool operator()(int64_t i) const { return indexes[i] < low || indexes[i] >= high; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "index {value} at position {position} is out of range [{low}, {high})");
    error.value = indexes[i];
    error.position = i;
    error.low = low;
    error.high = high;
  }
};

}  // namespace detail

#if !DL_KERNELS_GPU
// Check on the CPU, in a loop that vectorizes.
inline diopiError_t check_items(const Launch&, const char* op, int64_t count,
                                const detail::OutOfRange& range) {
  const int64_t* const indexes = range.indexes;
  const int64_t low = range.low, high = range.high;
  bool good = true;
  for (int64_t i = 0; i < count; ++i) good &= indexes[i] >= low && indexes[i] < high;
  if (good) return diopiSuccess;
  return detail::fail_at(op, range, detail::first_where(count, range));
}
#endif

// Check that every index is in [low, high). The operator must read the indices from `checked`.
inline diopiError_t check_indexes(const Launch& launch, const char* op, const int64_t* indexes,
                                  int64_t count, int64_t low, int64_t high,
                                  CheckedIndexes& checked) {
  return checked.open(launch, op, detail::OutOfRange{indexes, low, high}, count, low, low >= high);
}

// Return the index without repetitions: dimensions with stride 0 get extent 1.
inline TensorRef without_repeats(const TensorRef& index, int64_t (&sizes)[kMaxDims]) {
  TensorRef small = index;
  small.sizes = sizes;
  small.numel = 1;
  small.contiguous = true;
  for (int64_t d = index.ndim - 1; d >= 0; --d) {
    sizes[d] = index.strides[d] == 0 ? 1 : index.sizes[d];
    small.contiguous &= sizes[d] == 1 || index.strides[d] == small.numel;
    small.numel *= sizes[d];
  }
  return small;
}

// Row-major strides over without_repeats(): 0 where it removed repetitions, which are then visited.
inline void repeating_strides(const TensorRef& small, int64_t (&strides)[kMaxDims]) {
  int64_t next = 1;
  for (int64_t d = small.ndim - 1; d >= 0; --d) {
    strides[d] = small.sizes[d] == 1 ? 0 : next;
    next *= small.sizes[d];
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_INDEXES_H_
