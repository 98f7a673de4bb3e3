// CPU: two sums in one loop.
#ifndef DL_KERNELS_CPU_PAIR_SUM_H_
#define DL_KERNELS_CPU_PAIR_SUM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

template <class F>
void pair_sum(const Launch&, int64_t count, const F& f, Pair<double>* to) {
  Pair<double> total{0, 0};
  for (int64_t i = 0; i < count; ++i) {
    const Pair<double> item = f(i);
    total = {total.first + item.first, total.second + item.second};
  }
  *to = total;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_PAIR_SUM_H_
