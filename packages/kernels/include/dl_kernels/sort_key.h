// Elements as unsigned integers in the same order: NaN is the largest, -0 equals 0.
#ifndef DL_KERNELS_SORT_KEY_H_
#define DL_KERNELS_SORT_KEY_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dl_kernels/config.h"
#include "dl_kernels/numeric.h"

DL_KERNELS_BEGIN

struct SortOrder {
  bool descending;
};

template <class T>
using sort_key_t = bits_t<T>;

template <class T>
DL_FN sort_key_t<T> sort_key(T value) {
  using U = sort_key_t<T>;
  constexpr U kSign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  if constexpr (kIsFloat<T>) {
    // The bits of positive floats are in order; those of negative ones in reverse.
    U bits;
    std::memcpy(&bits, &value, sizeof(U));
    if (is_nan(value)) return static_cast<U>(~U(0));
    if (bits == kSign) bits = 0;
    return static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<U>(static_cast<U>(value) ^ kSign);
  } else {
    return static_cast<U>(value);
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_SORT_KEY_H_
