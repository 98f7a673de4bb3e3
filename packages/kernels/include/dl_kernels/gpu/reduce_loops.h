// GPU loops behind reduce/reduce.h: a thread for each output of a short reduction, a block for each
// output of a long one, and several blocks where there are few outputs.
#ifndef DL_KERNELS_GPU_REDUCE_LOOPS_H_
#define DL_KERNELS_GPU_REDUCE_LOOPS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

// Where results go, in any dtype.
template <class Acc>
struct Store {
  void* data;
  diopiDtype_t dtype;

  template <class O>
  void set() {
    dtype = dtype_of<O>();
  }

  DL_FN void operator()(int64_t offset, Acc value) const {
    switch (dtype) {
#define DL_STORE_CASE(value_dtype, O)               \
  case value_dtype:                                 \
    static_cast<O*>(data)[offset] = cast<O>(value); \
    break;
      DL_STORE_CASE(diopi_dtype_float32, float)
      DL_STORE_CASE(diopi_dtype_float64, double)
      DL_STORE_CASE(diopi_dtype_float16, Half)
      DL_STORE_CASE(diopi_dtype_bfloat16, BFloat16)
      DL_STORE_CASE(diopi_dtype_int8, int8_t)
      DL_STORE_CASE(diopi_dtype_uint8, uint8_t)
      DL_STORE_CASE(diopi_dtype_int16, int16_t)
      DL_STORE_CASE(diopi_dtype_int32, int32_t)
      DL_STORE_CASE(diopi_dtype_int64, int64_t)
      DL_STORE_CASE(diopi_dtype_bool, Bool)
#undef DL_STORE_CASE
      default:
        break;
    }
  }
};

namespace gpu {

// What element `i` of the reduced dimensions contributes.
template <class I, class R>
struct Contribution {
  R r;
  Plan<1> reduced;
  const I* from;

  DL_FN typename R::Wide operator()(int64_t base, int64_t i) const {
    int64_t offset[1];
    offsets_of(reduced, i, offset);
    return static_cast<typename R::Wide>(r.map(cast<compute_t<I>>(from[base + offset[0]])));
  }
};

template <class I, class R>
struct ReduceItem {
  Contribution<I, R> contribution;
  Plan<2> kept;
  Store<typename R::Acc> store;

  DL_FN void operator()(int64_t output) const {
    const R& r = contribution.r;
    int64_t offsets[2];
    offsets_of(kept, output, offsets);
    typename R::Wide total = r.start;
    for (int64_t i = 0; i < contribution.reduced.numel; ++i)
      total = r.combine(total, contribution(offsets[1], i));
    store(offsets[0], r.finish(total));
  }
};

// Row `k` is part k % ranges of output k / ranges.
template <class I, class R>
struct ReduceRow {
  using Wide = typename R::Wide;
  Contribution<I, R> contribution;
  Plan<2> kept;
  Store<typename R::Acc> store;
  int64_t ranges, range;
  Wide* parts;  // null where there is one range

  template <class B>
  DL_FN void operator()(const B& block, int64_t k) const {
    const R& r = contribution.r;
    int64_t offsets[2];
    offsets_of(kept, k / ranges, offsets);
    const int64_t first = k % ranges * range, left = contribution.reduced.numel - first;
    const int64_t base = offsets[1];
    const Contribution<I, R>& from = contribution;
    const Wide total = block.reduce(
        left < range ? left : range, static_cast<Wide>(r.start),
        [&r](Wide a, Wide b) { return static_cast<Wide>(r.combine(a, b)); },
        [&from, base, first](int64_t i) { return from(base, first + i); });
    block.map(1, [=](int64_t) {
      if (parts != nullptr) {
        parts[k] = total;
      } else {
        store(offsets[0], r.finish(total));
      }
    });
  }
};

template <class I, class R>
struct ReduceParts {
  R r;
  Plan<2> kept;
  Store<typename R::Acc> store;
  int64_t ranges;
  const typename R::Wide* parts;

  DL_FN void operator()(int64_t output) const {
    int64_t offsets[2];
    offsets_of(kept, output, offsets);
    typename R::Wide total = r.start;
    for (int64_t i = 0; i < ranges; ++i) total = r.combine(total, parts[output * ranges + i]);
    store(offsets[0], r.finish(total));
  }
};

}  // namespace gpu

template <class I, class R>
void run_reduce(const Launch& launch, const R& r, const ReducePlan& plan, const I* from,
                const Store<typename R::Acc>& store) {
  using Wide = typename R::Wide;
  const gpu::Contribution<I, R> contribution{r, plan.reduced, from};
  const int64_t outputs = plan.kept.numel, count = plan.reduced.numel;
  constexpr int64_t kShort = 32;
  constexpr int64_t kRange = 1 << 16;
  if (count <= kShort) {
    each(launch, outputs, count, gpu::ReduceItem<I, R>{contribution, plan.kept, store});
    return;
  }
  // The cut depends on the shape alone.
  const int64_t ranges = outputs < 256 ? (count + kRange - 1) / kRange : 1;
  const int64_t range = (count + ranges - 1) / ranges;
  if (ranges == 1) {
    rows(launch, outputs, count,
         gpu::ReduceRow<I, R>{contribution, plan.kept, store, 1, range, nullptr});
    return;
  }
  const Workspace<Wide> parts(launch, outputs * ranges);
  rows(launch, outputs * ranges, range,
       gpu::ReduceRow<I, R>{contribution, plan.kept, store, ranges, range, parts.data()});
  each(launch, outputs, ranges, gpu::ReduceParts<I, R>{r, plan.kept, store, ranges, parts.data()});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_REDUCE_LOOPS_H_
