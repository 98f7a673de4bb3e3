// Functions of adjacent elements of several arrays, for a block:
//
//   map_elements(block, n, f, first, Reads<T>{from}..., Writes<T>{to}...)
//
// calls f(x..., y...) for each of the elements [first, first + n) of the arrays: x are values of
// the compute type, y references to results of that type. An array may be both read and written.
#ifndef DL_KERNELS_PARALLEL_ELEMENTS_H_
#define DL_KERNELS_PARALLEL_ELEMENTS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

template <class T>
struct Reads {
  using Element = T;
  static constexpr bool kWritten = false;
  const T* array;
};

template <class T>
struct Writes {
  using Element = T;
  static constexpr bool kWritten = true;
  T* array;
};

DL_KERNELS_END

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/elements.h"
#else
#include "dl_kernels/cpu/elements.h"
#endif

#endif  // DL_KERNELS_PARALLEL_ELEMENTS_H_
