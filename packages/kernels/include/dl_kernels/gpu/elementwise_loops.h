// GPU loops of elementwise/elementwise.h: a few adjacent threads process a row of the plan, in
// vectors if all operands allow it. Operands that are constant along a row are read once per row;
// host scalars are passed as kernel arguments.
#ifndef DL_KERNELS_GPU_ELEMENTWISE_LOOPS_H_
#define DL_KERNELS_GPU_ELEMENTWISE_LOOPS_H_

#include <cstdint>
#include <cstring>
#include <utility>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/elementwise/identity.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/pack.h"
#include "dl_kernels/gpu/row_walk.h"
#include "dl_kernels/gpu/transpose.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace gpu {

struct alignas(16) ElementValue {
  unsigned char bytes[16];
};

// Vector width for the types of output and inputs: as many elements as fit into the widest access.
// A functor is compiled once for each width, so widths are smaller for complex and double, whose
// functors are long, and for narrow integers, which are rare.
template <class F, class O, class... I>
constexpr int vector_width() {
  constexpr bool kMoves = std::is_same_v<F, IdentityOp>;
  constexpr bool kLong = kIsComplex<O> || (kIsComplex<I> || ...) || std::is_same_v<O, double> ||
                         (std::is_same_v<I, double> || ...);
  if (kLong && !kMoves) return 1;
  // A scalar operand has the compute type and is not loaded.
  constexpr bool kScalarOperand = (std::is_same_v<I, O> || ...);
  int largest = sizeof(O);
  for (const int size : {static_cast<int>(
           std::is_same_v<I, compute_t<O>> && kScalarOperand ? sizeof(O) : sizeof(I))...})
    largest = size > largest ? size : largest;
  const int width = kWidestAccess / largest,
            most = sizeof(O) == 1 && std::is_integral_v<O> && !kMoves ? 4 : 8;
  return width < most ? width : most;
}

// Vectors that a thread processes at once, so that their loads overlap.
template <int kWidth, class O, class... I>
constexpr int vectors_at_once() {
  constexpr bool kBytes = ((sizeof(I) == 1) && ...) && kWidth == 4;
  if (sizeof(O) == 1 && std::is_integral_v<O>) return kBytes ? 4 : 1;
  return kWidth >= 8 ? 1 : 2;
}

template <class T>
DL_DEVICE T* row_begin(T* data, int32_t offset) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) +
                              wide_product(offset, static_cast<int32_t>(sizeof(T))));
}

// An input along a row. Unary functions are rarely applied to a broadcast element, except by
// copies.
template <class T, int kWidth, bool kMayBeConstant>
struct RowInput {
  const T* from;  // first element of the row
  int32_t step;
  bool constant;
  T value;  // the value of all elements, if constant
  Pack<T, kWidth> vector;
  compute_t<T> values[kWidth];  // of the current vector

  DL_DEVICE void open(const void* data, const ElementValue& given, int32_t offset, int32_t along) {
    from = row_begin(static_cast<const T*>(data), offset);
    step = along;
    constant = along == 0;
    if (!constant) return;
    value = data == nullptr ? *reinterpret_cast<const T*>(given.bytes) : *from;
    vector.fill(value);
  }
  // Advance by `count` vectors.
  DL_DEVICE void advance(int32_t count) { from = row_begin(from, count * kWidth); }
  DL_DEVICE void load(uint32_t at) {
    if (!kMayBeConstant || !constant) vector.load(from, at);
  }
  DL_DEVICE compute_t<T> element(uint32_t at) const {
    return cast<compute_t<T>>(constant ? value : from[static_cast<int32_t>(at) * step]);
  }
};

// Instead of std::tuple, for which compilers generate more code than needed.
template <size_t kIndex, class T>
struct Slot {
  T slot;
};
template <size_t kIndex, class T>
DL_DEVICE T& slot_of(Slot<kIndex, T>& slots) {
  return slots.slot;
}

template <class Sequence, int kWidth, bool kMayBeConstant, class... I>
struct RowInputs;
template <size_t... K, int kWidth, bool kMayBeConstant, class... I>
struct RowInputs<std::index_sequence<K...>, kWidth, kMayBeConstant, I...>
    : Slot<K, RowInput<I, kWidth, kMayBeConstant>>... {
  DL_DEVICE void open(void* const* data, const ElementValue* given, const int32_t* offsets,
                      const int32_t* steps) {
    (slot_of<K>(*this).open(data[K], given[K], offsets[K], steps[K]), ...);
  }
  DL_DEVICE void advance(int32_t count) { (slot_of<K>(*this).advance(count), ...); }
  DL_DEVICE void load(uint32_t at) { (slot_of<K>(*this).load(at), ...); }

  template <class F, class C>
  DL_DEVICE void apply(const F& f, C (&results)[kWidth]) {
    (slot_of<K>(*this).vector.get(slot_of<K>(*this).values), ...);
    DL_UNROLL
    for (int i = 0; i < kWidth; ++i) results[i] = cast<C>(f(slot_of<K>(*this).values[i]...));
  }
  template <class C, class F>
  DL_DEVICE C apply_to(const F& f, uint32_t at) {
    return cast<C>(f(slot_of<K>(*this).element(at)...));
  }
};

template <class F, class O, class... I>
struct ElementwiseItem {
  static constexpr int N = 1 + static_cast<int>(sizeof...(I));
  static constexpr int kWidth = vector_width<F, O, I...>();
  static constexpr int kAtOnce = vectors_at_once<kWidth, O, I...>();
  static constexpr bool kMayBeConstant = N > 2 || std::is_same_v<F, IdentityOp>;
  using Inputs = RowInputs<std::index_sequence_for<I...>, kWidth, kMayBeConstant, I...>;

  F f;
  RowWalk<N> walk;
  void* data[N];
  ElementValue values[N];  // of operands whose `data` is null

  DL_DEVICE void operator()(uint32_t thread) const {
    const uint32_t group = walk.lanes.quotient(thread);
    const uint32_t lane = thread - group * walk.lanes.divisor();
    if (group >= walk.groups) return;
    for (uint32_t row = group; row < walk.rows; row += walk.groups) process_row(row, lane);
  }

 private:
  DL_DEVICE void process_row(uint32_t row, uint32_t lane) const {
    using C = compute_t<O>;
    int32_t offsets[N];
    walk.begin_of(row, offsets);
    O* const to = row_begin(static_cast<O*>(data[0]), offsets[0]);
    Inputs in;
    in.open(data + 1, values + 1, offsets + 1, walk.steps + 1);
    const uint32_t step = walk.lanes.divisor();
    if constexpr (kWidth > 1) {
      // Process several vectors at a time, so that their loads overlap.
      const uint32_t iterations = walk.iterations;
      Inputs all[kAtOnce];
      O* outputs[kAtOnce];
      DL_UNROLL
      for (int k = 0; k < kAtOnce; ++k) {
        all[k] = in;
        outputs[k] = row_begin(to, static_cast<int32_t>(iterations) * k * kWidth);
        all[k].advance(static_cast<int32_t>(iterations) * k);
      }
      DL_NO_UNROLL
      for (uint32_t at = lane; at < iterations; at += step) {
        DL_UNROLL
        for (int k = 0; k < kAtOnce; ++k) all[k].load(at);
        DL_UNROLL
        for (int k = 0; k < kAtOnce; ++k) {
          C results[kWidth];
          all[k].apply(f, results);
          Pack<O, kWidth> out;
          out.set(results);
          // Saves one instruction at the cost of two registers, which 8-byte elements leave free.
          if constexpr (sizeof(O) == 8) {
            out.store(outputs[k], at);
          } else {
            out.store(to, at + static_cast<uint32_t>(k) * iterations);
          }
        }
      }
    }
    DL_NO_UNROLL
    for (uint32_t at = walk.iterations * (kAtOnce * kWidth) + lane; at < walk.length; at += step)
      to[static_cast<int32_t>(at) * walk.steps[0]] = cast<O>(in.template apply_to<C>(f, at));
  }
};

template <class Item>
DL_KERNEL void elementwise_kernel(Item item) {
  item(static_cast<uint32_t>(block_index()) * kThreads + static_cast<uint32_t>(thread_index()));
}

}  // namespace gpu

template <class F, class O, class... I>
struct ElementwiseTask {
  using Item = gpu::ElementwiseItem<F, O, I...>;
  const F& f;
  static constexpr size_t kSizes[] = {sizeof(O), sizeof(I)...};
  static constexpr bool kMoves =
      std::is_same_v<F, IdentityOp> && sizeof...(I) == 1 && (std::is_same_v<O, I> && ...);
};

template <class O, class... I, class F>
ElementwiseTask<F, O, I...> row_task(const F& f) {
  return {f};
}

namespace gpu {

// Run a small plan of operands that begin at data[k].
template <int N, class Task>
void launch_elementwise(const Launch& launch, const Task& task, const Plan<N>& plan,
                        void* const (&data)[N], const ElementValue (&values)[N]) {
  using Item = typename Task::Item;
  if constexpr (Task::kMoves) {
    if (data[1] != nullptr && copy_transposed<Task::kSizes[0]>(launch, plan, data[0], data[1]))
      return;
  }
  constexpr int64_t kWidth = Item::kWidth;
  bool vectors = kWidth > 1;
  for (int k = 0; k < N; ++k) {
    const int64_t size = static_cast<int64_t>(Task::kSizes[k]), bytes = kWidth * size;
    const bool constant = Item::kMayBeConstant && k > 0 && plan.strides[k][plan.ndim - 1] == 0;
    vectors = vectors && (constant || has_vectors(plan, k, data[k], size,
                                                  bytes < kWidestAccess ? bytes : kWidestAccess));
  }
  Item item{task.f, make_row_walk(plan, vectors ? kWidth * Item::kAtOnce : 0), {}, {}};
  for (int k = 0; k < N; ++k) {
    item.data[k] = data[k];
    item.values[k] = values[k];
  }
  const int64_t threads = item.walk.threads();
  run_threads(launch.stream(), (threads + kThreads - 1) / kThreads, elementwise_kernel<Item>, item);
}

}  // namespace gpu

// refs[0] is the output.
template <int N, class Task>
diopiError_t run_elementwise(diopiContextHandle_t ctx, const char* op, const Task& task,
                             const TensorRef (&refs)[N]) {
  Plan<N> plan;
  DL_TRY(make_plan(op, plan, refs));
  if (refs[0].numel == 0) return diopiSuccess;
  gpu::ElementValue values[N] = {};
  for (int k = 0; k < N; ++k) {
    if (!refs[k].on_host) continue;
    std::memcpy(values[k].bytes, refs[k].data, Task::kSizes[k]);
    // A plan with a single element may have other strides.
    for (int d = 0; d < plan.ndim; ++d) plan.strides[k][d] = 0;
  }
  const Launch launch(ctx);
  const int64_t first[N] = {};
  gpu::each_small_part(plan, first, [&](const Plan<N>& part, const int64_t (&begin)[N]) {
    void* data[N];
    for (int k = 0; k < N; ++k) {
      const int64_t bytes = begin[k] * static_cast<int64_t>(Task::kSizes[k]);
      data[k] = refs[k].on_host ? nullptr : refs[k].template as<char>() + bytes;
    }
    gpu::launch_elementwise(launch, task, part, data, values);
  });
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ELEMENTWISE_LOOPS_H_
