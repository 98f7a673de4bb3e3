// GPU loops behind elementwise/elementwise.h: a thread for each element, which finds its operands
// through the plan. Single elements in the host's memory travel with the arguments.
#ifndef DL_KERNELS_GPU_ELEMENTWISE_LOOPS_H_
#define DL_KERNELS_GPU_ELEMENTWISE_LOOPS_H_

#include <cstdint>
#include <tuple>
#include <utility>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

struct alignas(16) ElementValue {
  unsigned char bytes[16];
};

template <int N>
struct Operands {
  Plan<N> plan;
  void* data[N];
  ElementValue values[N];  // of the operands whose `data` is null
};

template <class F, class O, class... I>
struct ElementwiseItem {
  static constexpr int N = 1 + static_cast<int>(sizeof...(I));
  F f;
  Operands<N> operands;

  template <class T, int k>
  DL_FN compute_t<T> load(const int64_t (&offsets)[N]) const {
    const T* from = static_cast<const T*>(operands.data[k]);
    return cast<compute_t<T>>(
        from == nullptr ? *reinterpret_cast<const T*>(operands.values[k].bytes) : from[offsets[k]]);
  }

  template <size_t... K>
  DL_FN void apply(const int64_t (&offsets)[N], std::index_sequence<K...>) const {
    O* out = static_cast<O*>(operands.data[0]) + offsets[0];
    using C = compute_t<O>;
    *out = cast<O>(cast<C>(f(load<I, static_cast<int>(K) + 1>(offsets)...)));
  }

  DL_FN void operator()(int64_t i) const {
    int64_t offsets[N];
    offsets_of(operands.plan, i, offsets);
    apply(offsets, std::index_sequence_for<I...>{});
  }
};

}  // namespace gpu

template <class F, class O, class... I>
struct ElementwiseTask {
  using Item = gpu::ElementwiseItem<F, O, I...>;
  const F& f;
  static constexpr size_t kSizes[] = {sizeof(O), sizeof(I)...};
};

template <class O, class... I, class F>
ElementwiseTask<F, O, I...> row_task(const F& f) {
  return {f};
}

// refs[0] is the output.
template <int N, class Task>
diopiError_t run_elementwise(diopiContextHandle_t ctx, const char* op, const Task& task,
                             const TensorRef (&refs)[N]) {
  gpu::Operands<N> operands{};
  DL_TRY(make_plan(op, operands.plan, refs));
  if (refs[0].numel == 0) return diopiSuccess;
  for (int k = 0; k < N; ++k) {
    if (refs[k].on_host) {
      std::memcpy(operands.values[k].bytes, refs[k].data, Task::kSizes[k]);
    } else {
      operands.data[k] = refs[k].data;
    }
  }
  each(Launch(ctx), operands.plan.numel, 1, typename Task::Item{task.f, operands});
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ELEMENTWISE_LOOPS_H_
