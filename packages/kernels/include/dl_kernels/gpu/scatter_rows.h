// GPU loops of scatter: one thread per element or, if few elements can share a target, one thread
// for all elements with the same target; the latter is deterministic.
#ifndef DL_KERNELS_GPU_SCATTER_ROWS_H_
#define DL_KERNELS_GPU_SCATTER_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/atomic.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/index/scatter_operators.h"
#include "dl_kernels/layout/dim_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

// A reduction that is selected at run time, so that one kernel serves all reductions.
class AnyScatterOp {
 public:
  AnyScatterOp(ScatterAddOp) : kind_(Kind::add) {}
  AnyScatterOp(MultiplyOp) : kind_(Kind::multiply) {}
  AnyScatterOp(LargestOp) : kind_(Kind::largest) {}
  AnyScatterOp(SmallestOp) : kind_(Kind::smallest) {}

  DL_DEVICE bool adds() const { return kind_ == Kind::add; }
  template <class T>
  DL_DEVICE T operator()(T a, T b) const {
    switch (kind_) {
      case Kind::add:
        return ScatterAddOp{}(a, b);
      case Kind::multiply:
        return MultiplyOp{}(a, b);
      case Kind::largest:
        return LargestOp{}(a, b);
      default:
        return SmallestOp{}(a, b);
    }
  }

 private:
  enum class Kind { add, multiply, largest, smallest };
  Kind kind_;
};

// Update an element that other threads may update at the same time. If several threads replace an
// element, any value may win.
template <class A>
DL_DEVICE void write_at_once(A* to, A from, ReplaceOp) {
  *to = from;
}
template <class A>
DL_DEVICE void write_at_once(A* to, A from, ScatterAddOp) {
  atomic_add(to, from);
}
template <class A>
DL_DEVICE void write_at_once(A* to, A from, const AnyScatterOp& combine) {
  if (combine.adds()) {
    atomic_add(to, from);
  } else {
    atomic_update(to, from, combine);
  }
}

// Scatter `run` consecutive elements along one dimension.
template <class A, class T, class Op>
struct ScatterItem {
  A* target;
  const T* source;  // null: `value`
  T value;
  const int64_t* index;  // multiplied by `step` to give the offset in the target
  Plan<3> plan;          // target, source, index
  int64_t step, run, next_source, next_index;
  bool alone;  // no other thread writes to this thread's targets
  Op combine;

  DL_DEVICE void write(A* to, A from) const {
    if (alone) {
      *to = combine(*to, from);
    } else {
      write_at_once(to, from, combine);
    }
  }

  DL_DEVICE void operator()(int64_t item) const {
    int64_t offsets[3];
    offsets_of(plan, item, offsets);
    for (int64_t i = 0; i < run; ++i) {
      write(target + offsets[0] + index[offsets[2] + i * next_index] * step,
            cast<A>(source == nullptr ? value : source[offsets[1] + i * next_source]));
    }
  }
};

// Operand 0 of the plan has stride 0 in the dimension that the index replaces.
template <class A, class T, class Op>
void scatter_all(const Launch& launch, const Plan<3>& plan, A* target, const T* source,
                 const int64_t* index, int64_t step, const Op& combine) {
  each(launch, plan.numel, 1,
       ScatterItem<A, T, Op>{target, source, T{}, index, plan, step, 1, 0, 0, false, combine});
}

}  // namespace gpu

template <class A, class T, class Op>
void scatter_rows(const Launch& launch, const DimPlan<3>& dims, A* target, const T* source,
                  bool on_host, const int64_t* index, const Op& combine) {
  using Combine = std::conditional_t<std::is_same_v<Op, ReplaceOp>, ReplaceOp, gpu::AnyScatterOp>;
  constexpr int64_t kShort = 32;
  gpu::ScatterItem<A, T, Combine> item{target,       on_host ? nullptr : source,
                                       T{},          index,
                                       dims.rows,    dims.step[0],
                                       dims.n,       dims.step[1],
                                       dims.step[2], true,
                                       combine};
  if (on_host) item.value = *source;
  if (dims.n > kShort) {
    Plan<3>& plan = item.plan;
    plan.shape[plan.ndim] = dims.n;
    plan.strides[0][plan.ndim] = 0;
    plan.strides[1][plan.ndim] = dims.step[1];
    plan.strides[2][plan.ndim] = dims.step[2];
    ++plan.ndim;
    plan.numel *= dims.n;
    simplify(plan);
    item.run = 1;
    item.alone = false;
  }
  each(launch, item.plan.numel, item.run, item);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SCATTER_ROWS_H_
