// Atomic updates for every element type. The order of updates is unspecified: sums of floats may
// differ in their last bits from call to call.
#ifndef DL_KERNELS_GPU_ATOMIC_H_
#define DL_KERNELS_GPU_ATOMIC_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/threads.h"

DL_KERNELS_BEGIN

namespace gpu {

// Atomically replace the bits of a word by change(bits), with a compare-and-swap loop.
template <class Word, class Change>
DL_DEVICE void change_word(Word* at, const Change& change) {
  // Volatile: another thread may have changed the word since it was cached.
  Word seen = *static_cast<const volatile Word*>(at);
  for (;;) {
    const Word wanted = change(seen);
    if (wanted == seen) return;
    const Word found = compare_and_swap(at, seen, wanted);
    if (found == seen) return;
    seen = found;
  }
}

// *to = combine(*to, value), in the compute type. For elements shorter than a word, the aligned
// word around them is updated.
template <class T, class Combine>
DL_DEVICE void atomic_update(T* to, T value, const Combine& combine) {
  using C = compute_t<T>;
  const auto combined = [&](T old) { return cast<T>(combine(cast<C>(old), cast<C>(value))); };
  if constexpr (sizeof(T) >= 4) {
    static_assert(sizeof(T) <= 8, "the element is too wide for compare-and-swap on a GPU");
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    change_word(reinterpret_cast<Word*>(to),
                [&](Word bits) { return bit_cast<Word>(combined(bit_cast<T>(bits))); });
  } else {
    using Part = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    const auto address = reinterpret_cast<uintptr_t>(to);
    const unsigned shift = static_cast<unsigned>(address % 4) * 8;
    const uint32_t mask = uint32_t(static_cast<Part>(-1)) << shift;
    change_word(reinterpret_cast<uint32_t*>(address - address % 4), [&](uint32_t bits) {
      const T old = bit_cast<T>(static_cast<Part>((bits & mask) >> shift));
      return (bits & ~mask) | uint32_t(bit_cast<Part>(combined(old))) << shift;
    });
  }
}

struct WrapAdd {
  template <class C>
  DL_DEVICE C operator()(C a, C b) const {
    return wrap_add(a, b);
  }
};

// *to += value. Integers wrap, booleans are combined by "or"; a complex number takes two additions.
template <class T>
DL_DEVICE void atomic_add(T* to, T value) {
  if constexpr (kIsComplex<T>) {
    atomic_add(&to->re, value.re);
    atomic_add(&to->im, value.im);
  } else if constexpr (std::is_floating_point_v<T>) {
    add_at_once(to, value);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    add_at_once(reinterpret_cast<uint32_t*>(to), static_cast<uint32_t>(value));
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    add_at_once(reinterpret_cast<uint64_t*>(to), static_cast<uint64_t>(value));
  } else {
    atomic_update(to, value, WrapAdd{});
  }
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATOMIC_H_
