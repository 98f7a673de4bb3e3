// GPU: two sums as one reduction of pairs.
#ifndef DL_KERNELS_GPU_PAIR_SUM_H_
#define DL_KERNELS_GPU_PAIR_SUM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/total.h"

DL_KERNELS_BEGIN

namespace gpu {

struct AddPairs {
  DL_FN Pair<double> operator()(const Pair<double>& a, const Pair<double>& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace gpu

template <class F>
void pair_sum(const Launch& launch, int64_t count, const F& f, Pair<double>* to) {
  gpu::total(launch, count, Pair<double>{0, 0}, gpu::AddPairs{}, f, to);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PAIR_SUM_H_
