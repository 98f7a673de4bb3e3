// Index tensors are data: they must be looked at before they are used as addresses.
#ifndef DL_KERNELS_INDEXES_H_
#define DL_KERNELS_INDEXES_H_

#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/error.h"

DL_KERNELS_BEGIN

// Every index must lie in [low, high).
inline diopiError_t check_indexes(const char* op, const int64_t* indexes, int64_t count,
                                  int64_t low, int64_t high) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) good &= indexes[i] >= low && indexes[i] < high;
  if (good) return diopiSuccess;
  for (int64_t i = 0; i < count; ++i) {
    if (indexes[i] < low || indexes[i] >= high) {
      return fail(op, "index %lld at position %lld is out of range [%lld, %lld)",
                  (long long)indexes[i], (long long)i, (long long)low, (long long)high);
    }
  }
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEXES_H_
