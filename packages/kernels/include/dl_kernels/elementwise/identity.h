// The identity functor: for copies between tensors of different strides.
#ifndef DL_KERNELS_ELEMENTWISE_IDENTITY_H_
#define DL_KERNELS_ELEMENTWISE_IDENTITY_H_

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct IdentityOp {
  template <class T>
  DL_FN T operator()(T x) const {
    return x;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_IDENTITY_H_
