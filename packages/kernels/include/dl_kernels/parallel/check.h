// Checks of data, in the backend's implementation. The first invalid item is reported as an error:
//
//   check_items(launch, op, count, check)
//   CheckedIndexes::open(launch, op, check, count, safe)   the same for check.indexes; the operator
//                                                          then reads them from data()
//
// On the CPU, the operator fails at once. On a GPU, nothing waits: a kernel writes the error to the
// stream's error word (dl/device_error.h), the following work runs with the invalid data, and the
// host raises the error when it next waits for the stream. Only if the host has no such word, the
// check waits and fails. Work after a check on a GPU therefore has to be safe with any data:
// CheckedIndexes is a copy there in which `safe` replaces every invalid index, so that no access is
// out of bounds.
//
// A check is a functor without references:
//
//   bool operator()(int64_t i) const                           true if item i is invalid
//   void describe(int64_t i, dl_device_error_t& error) const   its kind, text and numbers
#ifndef DL_KERNELS_PARALLEL_CHECK_H_
#define DL_KERNELS_PARALLEL_CHECK_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/check.h"
#else
#include "dl_kernels/cpu/check.h"
#endif

#endif  // DL_KERNELS_PARALLEL_CHECK_H_
