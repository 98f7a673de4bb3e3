// out[i] = f(in1[i], in2[i], …) over any strides, with broadcasting.
//
// `f` is a functor on compute types (`compute_t`); loads and stores convert. A functor must not
// depend on the order of calls.
#ifndef DL_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
#define DL_KERNELS_ELEMENTWISE_ELEMENTWISE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/parallel/launch.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/elementwise_loops.h"
#else
#include "dl_kernels/cpu/elementwise_loops.h"
#endif

DL_KERNELS_BEGIN

// O and I… are the element types of `out` and `in…`.
template <class O, class... I, class F, class... Refs>
diopiError_t elementwise(diopiContextHandle_t ctx, const char* op, const F& f, const TensorRef& out,
                         const Refs&... in) {
  static_assert(sizeof...(I) == sizeof...(Refs), "one element type per input");
  constexpr int N = 1 + static_cast<int>(sizeof...(I));
  const TensorRef refs[N] = {out, in...};
  return run_elementwise<N>(ctx, op, row_task<O, I...>(f), refs);
}

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
