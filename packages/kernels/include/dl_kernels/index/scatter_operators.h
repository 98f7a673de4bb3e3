// Operators with which a scatter combines a source element with the target element.
#ifndef DL_KERNELS_INDEX_SCATTER_OPERATORS_H_
#define DL_KERNELS_INDEX_SCATTER_OPERATORS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

struct ReplaceOp {
  template <class T>
  DL_FN T operator()(T, T value) const {
    return value;
  }
};

struct ScatterAddOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return wrap_add(a, b);
  }
};

struct MultiplyOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return wrap_mul(a, b);
  }
};

struct LargestOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return max_nan(a, b);
  }
};

struct SmallestOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return min_nan(a, b);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_SCATTER_OPERATORS_H_
