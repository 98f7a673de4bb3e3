// Elements as unsigned integers in the same order: NaN is the largest, -0 equals 0. Items combine
// them with their positions: equal keys are then ordered by position, so any sort of items is
// stable.
#ifndef DL_KERNELS_SORT_SORT_KEY_H_
#define DL_KERNELS_SORT_SORT_KEY_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

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
    // The bits of positive floats are ordered like their values, those of negative floats in
    // reverse.
    U bits;
    __builtin_memcpy(&bits, &value, sizeof(U));
    if (is_nan(value)) return static_cast<U>(~U(0));
    if (bits == kSign) bits = 0;
    return static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
  } else if constexpr (kIsBool<T>) {
    return static_cast<U>(cast<bool>(value));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<U>(static_cast<U>(value) ^ kSign);
  } else {
    return static_cast<U>(value);
  }
}

// Mask that is XORed into keys to reverse the order.
template <class T>
sort_key_t<T> flip_of(SortOrder order) {
  return order.descending ? static_cast<sort_key_t<T>>(~sort_key_t<T>(0)) : sort_key_t<T>(0);
}

namespace detail {

// The key, of up to 32 bits, in the upper half, and the position in the lower.
struct NarrowItem {
  uint64_t bits;
  DL_FN uint64_t position() const { return bits & 0xffffffffu; }
  DL_FN unsigned digit(int byte) const { return bits >> (32 + 8 * byte) & 0xff; }
  DL_FN bool operator<(const NarrowItem& other) const { return bits < other.bits; }
};

struct WideItem {
  uint64_t key, at;
  DL_FN uint64_t position() const { return at; }
  DL_FN unsigned digit(int byte) const { return key >> (8 * byte) & 0xff; }
  DL_FN bool operator<(const WideItem& other) const {
    return key != other.key ? key < other.key : at < other.at;
  }
};

template <class T>
using sort_item_t = std::conditional_t<sizeof(T) <= 4, NarrowItem, WideItem>;

// Positions beyond 32 bits do not fit next to a narrow key.
inline constexpr int64_t kLongestRow = int64_t(1) << 32;

template <class T>
DL_FN sort_item_t<T> item_with_key(sort_key_t<T> key, int64_t position) {
  if constexpr (sizeof(T) <= 4) {
    return {static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(position)};
  } else {
    return {key, static_cast<uint64_t>(position)};
  }
}

template <class T>
DL_FN sort_item_t<T> item_of(T value, int64_t position, sort_key_t<T> flip) {
  return item_with_key<T>(static_cast<sort_key_t<T>>(sort_key(value) ^ flip), position);
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_SORT_SORT_KEY_H_
