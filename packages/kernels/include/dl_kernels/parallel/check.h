// Checks of data, of the backend. The first item that is wrong is an error:
//
//   check_items(launch, op, count, check)
//   CheckedIndexes::open(launch, op, check, count, safe)   the same for check.indexes; the operator
//                                                          then reads them from data()
//
// On the CPU the operator fails at once. On a GPU nothing waits: a kernel leaves the error in the
// stream's error word (dl/device_error.h), what follows it runs with the bad data, and the host
// raises the error when it next waits for the stream. Only where the host has no such word, these
// wait and fail. So what follows a check on a GPU has to be safe with any data: CheckedIndexes is a
// copy there in which `safe` stands for every wrong index, so that no place lies outside of what it
// is for.
//
// A check is a functor without references:
//
//   bool operator()(int64_t i) const                           whether item i is wrong
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
