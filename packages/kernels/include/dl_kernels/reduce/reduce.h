// Reductions of any dimensions, over any strides.
//
// A reducer defines what is combined and how:
//   using Acc;                 accumulate type of partial results, also of long ones (see Wide)
//   using Wide;                the type in which partial results of 4096 elements are combined
//   Acc start;                 the neutral element
//   Acc map(C x)               the contribution of an element
//   combine(a, b)              for Acc and for Wide
//   Acc finish(Wide)           the result
// Results do not depend on the number of threads: the division of work is fixed.
#ifndef DL_KERNELS_REDUCE_REDUCE_H_
#define DL_KERNELS_REDUCE_REDUCE_H_

#include <cmath>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/layout/reduce_plan.h"
#include "dl_kernels/sort/sort_key.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/reduce_loops.h"
#else
#include "dl_kernels/cpu/reduce_loops.h"
#endif

DL_KERNELS_BEGIN

// Sums in the accumulate type; long ones in double.
template <class A>
struct SumReducer {
  using Acc = A;
  using Wide = std::conditional_t<std::is_floating_point_v<A>, double, A>;
  Acc start = 0;
  double scale = 1.0;
  template <class C>
  DL_FN Acc map(C x) const {
    return cast<Acc>(x);
  }
  template <class T>
  DL_FN T combine(T a, T b) const {
    return wrap_add(a, b);
  }
  template <class T, class = std::enable_if_t<kIsBool<T>>>
  Acc row_piece(const T* x, int64_t n) const {
    return static_cast<Acc>(count_true(x, n));
  }
  DL_FN Acc finish(Wide total) const {
    if constexpr (std::is_floating_point_v<A>) return static_cast<Acc>(total * scale);
    return total;
  }
};

template <class A>
struct ProductReducer {
  using Acc = A;
  using Wide = A;
  Acc start = 1;
  template <class C>
  DL_FN Acc map(C x) const {
    return cast<Acc>(x);
  }
  DL_FN Acc combine(Acc a, Acc b) const { return wrap_mul(a, b); }
  DL_FN Acc finish(Wide total) const { return total; }
};

template <class A>
struct MaxReducer {
  using Acc = A;
  using Wide = A;
  Acc start = lowest<A>();
  DL_FN Acc map(A x) const { return x; }
#if !DL_KERNELS_GPU
  template <class T>
  Acc row_piece(const T* x, int64_t n) const {
    return Block().reduce(n, start, MaxOrNan{}, [x](int64_t i) { return cast<A>(x[i]); });
  }
#endif
  DL_FN Acc combine(Acc a, Acc b) const { return max_nan(a, b); }
  DL_FN Acc finish(Wide total) const { return total; }
};

template <class A>
struct MinReducer {
  using Acc = A;
  using Wide = A;
  Acc start = highest<A>();
  DL_FN Acc map(A x) const { return x; }
#if !DL_KERNELS_GPU
  template <class T>
  Acc row_piece(const T* x, int64_t n) const {
    return Block().reduce(n, start, MinOrNan{}, [x](int64_t i) { return cast<A>(x[i]); });
  }
#endif
  DL_FN Acc combine(Acc a, Acc b) const { return min_nan(a, b); }
  DL_FN Acc finish(Wide total) const { return total; }
};

// An integer as wide as the elements: conversions between widths would cost more than the
// comparison.
template <class C>
using truth_t = bits_t<C>;

template <class C>
struct AnyReducer {
  using Acc = truth_t<C>;
  using Wide = Acc;
  Acc start = 0;
  DL_FN Acc map(C x) const { return x != C(0); }
  template <class T, class = std::enable_if_t<kIsBool<T>>>
  Acc row_piece(const T* x, int64_t n) const {
    return any_true(x, n);
  }
  DL_FN Acc combine(Acc a, Acc b) const { return a | b; }
  DL_FN Acc finish(Wide total) const { return total; }
};

template <class C>
struct AllReducer {
  using Acc = truth_t<C>;
  using Wide = Acc;
  Acc start = 1;
  DL_FN Acc map(C x) const { return x != C(0); }
  template <class T, class = std::enable_if_t<kIsBool<T>>>
  Acc row_piece(const T* x, int64_t n) const {
    return all_true(x, n);
  }
  DL_FN Acc combine(Acc a, Acc b) const { return a & b; }
  DL_FN Acc finish(Wide total) const { return total; }
};

template <>
struct MaxReducer<bool> : AnyReducer<bool> {};
template <>
struct MinReducer<bool> : AllReducer<bool> {};

// I is the element type of the input. The output may have any dtype in Mask.
template <class I, uint32_t Mask, class R>
diopiError_t reduce(diopiContextHandle_t ctx, const char* op, const R& reducer,
                    const TensorRef& out, const TensorRef& input, uint32_t dims) {
  ReducePlan plan;
  DL_TRY(make_reduce_plan(op, out, input, dims, plan));
  if (out.numel == 0) return diopiSuccess;
  Store<typename R::Acc> store{out.data, {}};
  DL_TRY(dispatch<Mask>(out.dtype, [&](auto tag) {
    store.template set<typename decltype(tag)::type>();
    return diopiSuccess;
  }));
  run_reduce<I>(Launch(ctx), reducer, plan, input.as<const I>(), store);
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_REDUCE_REDUCE_H_
