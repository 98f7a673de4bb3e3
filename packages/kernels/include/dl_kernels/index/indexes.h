// Bounds checks of index tensors: they are data, so they are checked before they address memory.
#ifndef DL_KERNELS_INDEX_INDEXES_H_
#define DL_KERNELS_INDEX_INDEXES_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/index/index_range.h"
#include "dl_kernels/parallel/search.h"

DL_KERNELS_BEGIN

namespace detail {

inline diopiError_t bad_index(const char* op, int64_t index, int64_t position, int64_t low,
                              int64_t high) {
  return fail(op, "index %lld at position %lld is out of range [%lld, %lld)", (long long)index,
              (long long)position, (long long)low, (long long)high);
}

struct OutOfRange {
  const int64_t* indexes;
  int64_t low, high;
  DL_FN bool operator()(int64_t i) const { return indexes[i] < low || indexes[i] >= high; }
};

}  // namespace detail

// Every index must lie in [low, high). For indexes in the host's memory.
inline diopiError_t check_indexes(const char* op, const int64_t* indexes, int64_t count,
                                  int64_t low, int64_t high) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) good &= indexes[i] >= low && indexes[i] < high;
  if (good) return diopiSuccess;
  int64_t bad = 0;
  while (indexes[bad] >= low && indexes[bad] < high) ++bad;
  return detail::bad_index(op, indexes[bad], bad, low, high);
}

// The same for indexes where the operator runs.
inline diopiError_t check_indexes(const Launch& launch, const char* op, const int64_t* indexes,
                                  int64_t count, int64_t low, int64_t high) {
  if constexpr (!DL_KERNELS_GPU) return check_indexes(op, indexes, count, low, high);
  const int64_t bad = first_where(launch, count, detail::OutOfRange{indexes, low, high});
  if (bad >= count) return diopiSuccess;
  return detail::bad_index(op, fetch(launch, indexes + bad), bad, low, high);
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_INDEXES_H_
