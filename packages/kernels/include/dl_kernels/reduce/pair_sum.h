// Two sums over the same elements in one pass.
#ifndef DL_KERNELS_REDUCE_PAIR_SUM_H_
#define DL_KERNELS_REDUCE_PAIR_SUM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/parallel/launch.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/total.h"
#endif

DL_KERNELS_BEGIN

struct AddPairs {
  DL_FN Pair<double> operator()(const Pair<double>& a, const Pair<double>& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

// *to becomes the sum of the pairs f(0) … f(count - 1), where the operator runs. `f` is a functor
// without references; it is called once for each item.
template <class F>
void pair_sum(const Launch& launch, int64_t count, const F& f, Pair<double>* to) {
#if DL_KERNELS_GPU
  gpu::total(launch, count, Pair<double>{0, 0}, AddPairs{}, f, to);
#else
  (void)launch;
  Pair<double> total{0, 0};
  for (int64_t i = 0; i < count; ++i) total = AddPairs{}(total, f(i));
  *to = total;
#endif
}

DL_KERNELS_END

#endif  // DL_KERNELS_REDUCE_PAIR_SUM_H_
