// CPU: vector registers in expressions. A loop over the few lanes of an accumulator is unrolled
// into scalars before compilers can vectorize it; these functions combine whole registers.
#ifndef DL_KERNELS_CPU_LANES_H_
#define DL_KERNELS_CPU_LANES_H_

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/registers.h"

DL_KERNELS_BEGIN

namespace detail {

template <class T>
struct RegisterOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using register_t = typename RegisterOf<T>::type;

// Trait of functors that take registers as they take elements, such as MaxOrNan.
template <class F, class = void>
struct TakesRegisters : std::false_type {};
template <class F>
struct TakesRegisters<F, std::void_t<typename F::Registers>> : std::true_type {};

template <int shift, class V, int... I>
DL_FN V rotated_lanes(const V& v, std::integer_sequence<int, I...>) {
  constexpr int kLanes = sizeof...(I);
  return V{v[(I + shift) % kLanes]...};
}

template <int shift, class T, class V, class Combine>
DL_FN T fold_register(const V& v, const Combine& combine) {
  if constexpr (shift == 0) {
    return v[0];
  } else {
    constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
    const V other = rotated_lanes<shift>(v, std::make_integer_sequence<int, kLanes>{});
    return fold_register<shift / 2, T>(combine(v, other), combine);
  }
}

// Combine `count` lanes, a multiple of those of a register.
template <int count, class T, class Combine>
DL_FN T fold_lanes(const T* lanes, const Combine& combine) {
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  static_assert(count % kLanes == 0, "whole registers");
  register_t<T> total, next;
  std::memcpy(&total, lanes, sizeof(total));
  for (int k = kLanes; k < count; k += kLanes) {
    std::memcpy(&next, lanes + k, sizeof(next));
    total = combine(total, next);
  }
  return fold_register<kLanes / 2, T>(total, combine);
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_LANES_H_
