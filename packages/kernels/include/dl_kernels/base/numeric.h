// Conversions between element types, and the types in which elements are computed and accumulated.
#ifndef DL_KERNELS_BASE_NUMERIC_H_
#define DL_KERNELS_BASE_NUMERIC_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dl_kernels/base/boolean.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/float16.h"

DL_KERNELS_BEGIN

template <class R>
struct Complex {
  R re, im;
};

// Two values that Block::sum_pair accumulates together.
template <class T>
struct Pair {
  T first, second;
};

template <class T>
struct IsComplex : std::false_type {};
template <class R>
struct IsComplex<Complex<R>> : std::true_type {};

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsHalf<T>;
template <class T>
inline constexpr bool kIsComplex = IsComplex<T>::value;
template <class T>
inline constexpr bool kIsBool = std::is_same_v<T, Bool>;

// Number of significant bits of a floating-point type.
template <class T>
inline constexpr int kDigits = std::is_same_v<T, Half>       ? 11
                               : std::is_same_v<T, BFloat16> ? 8
                                                             : std::numeric_limits<T>::digits;

// An unsigned integer as wide as an element of at most 8 bytes.
template <class T>
using bits_t =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

// Compute type: the type in which one element is computed.
template <class T>
using compute_t = std::conditional_t<kIsHalf<T>, float, std::conditional_t<kIsBool<T>, bool, T>>;

// Accumulate type: the type of sums of elements.
template <class T>
using acc_t = std::conditional_t<kIsFloat<T>, compute_t<T>, int64_t>;

// Convert as PyTorch's `to` does. This is C's conversion, except for floats and narrow integers: C
// leaves that conversion undefined, so it goes through int64, and values wrap the same way on every
// machine.
template <class To, class From>
DL_FN To cast(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, bool> && std::is_floating_point_v<To>) {
    // A select is cheaper than a conversion through int.
    return value ? To(1) : To(0);
  } else if constexpr (kIsBool<From>) {
    return cast<To>(static_cast<bool>(value));
  } else if constexpr (kIsBool<To>) {
    return Bool(cast<bool>(value));
  } else if constexpr (kIsHalf<From>) {
    return cast<To>(static_cast<float>(value));
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>) {
      using R = decltype(To{}.re);
      return To{static_cast<R>(value.re), static_cast<R>(value.im)};
    } else if constexpr (std::is_same_v<To, bool>) {
      return value.re != 0 || value.im != 0;
    } else {
      return cast<To>(value.re);
    }
  } else if constexpr (kIsComplex<To>) {
    using R = decltype(To{}.re);
    return To{static_cast<R>(value), R(0)};
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint32_t>) {
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
DL_FN bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value != value;
  } else if constexpr (kIsHalf<T>) {
    return is_nan(static_cast<float>(value));
  } else if constexpr (kIsComplex<T>) {
    return is_nan(value.re) || is_nan(value.im);
  } else {
    return false;
  }
}

template <class T>
DL_FN T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

template <class T>
DL_FN T highest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

// Largest finite value of a floating-point type.
template <class T>
DL_FN T largest() {
  if constexpr (kIsHalf<T>) {
    return bit_cast<T>(static_cast<uint16_t>(std::is_same_v<T, Half> ? 0x7bff : 0x7f7f));
  } else {
    return std::numeric_limits<T>::max();
  }
}

// Return the next float toward +infinity; the argument must not be NaN.
template <class T>
DL_FN T next_above(T x) {
  using U = bits_t<T>;
  constexpr U kSign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  const U bits = bit_cast<U>(x);
  // The bits of positive floats are ordered like their values, those of negative floats in reverse.
  if ((bits & ~kSign) == 0) return bit_cast<T>(U(1));
  return bit_cast<T>(static_cast<U>((bits & kSign) != 0 ? bits - 1 : bits + 1));
}

// Return the next float toward -infinity.
template <class T>
DL_FN T next_below(T x) {
  using U = bits_t<T>;
  constexpr U kSign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  return bit_cast<T>(static_cast<U>(
      bit_cast<U>(next_above(bit_cast<T>(static_cast<U>(bit_cast<U>(x) ^ kSign)))) ^ kSign));
}

// Integer arithmetic that wraps instead of overflowing. C++ promotes narrow types to int, where
// they cannot overflow. Booleans are combined by "or" and "and".
template <class T>
DL_FN T wrap_add(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (kIsBool<T>) {
    return T(wrap_add(cast<bool>(a), cast<bool>(b)));
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

template <class T>
DL_FN T wrap_sub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return a - b;
  }
}

template <class T>
DL_FN T wrap_mul(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (kIsBool<T>) {
    return T(wrap_mul(cast<bool>(a), cast<bool>(b)));
  } else if constexpr (std::is_integral_v<T>) {
    // 16-bit operands would be promoted to int, whose multiplication may overflow.
    using U = std::common_type_t<std::make_unsigned_t<T>, uint32_t>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

// NaN propagates, as everywhere in PyTorch.
template <class T>
DL_FN T max_nan(T a, T b) {
  if constexpr (kIsBool<T>) {
    return T(cast<bool>(a) || cast<bool>(b));
  } else {
    const T m = a > b ? a : b;
    // Two selects instead of one compound condition, which GCC does not vectorize.
    if constexpr (std::is_floating_point_v<T>) return a != a ? a : m;
    return m;
  }
}

template <class T>
DL_FN T min_nan(T a, T b) {
  if constexpr (kIsBool<T>) {
    return T(cast<bool>(a) && cast<bool>(b));
  } else {
    const T m = a < b ? a : b;
    // Two selects instead of one compound condition, which GCC does not vectorize.
    if constexpr (std::is_floating_point_v<T>) return a != a ? a : m;
    return m;
  }
}

// The same as function objects. On CPUs they also take vector registers.
struct MaxOrNan {
  using Registers = void;
  template <class T>
  DL_FN T operator()(const T& a, const T& b) const {
    if constexpr (std::is_arithmetic_v<T>) return max_nan(a, b);
    const T m = a > b ? a : b;
    return a != a ? a : m;
  }
};
struct MinOrNan {
  using Registers = void;
  template <class T>
  DL_FN T operator()(const T& a, const T& b) const {
    if constexpr (std::is_arithmetic_v<T>) return min_nan(a, b);
    const T m = a < b ? a : b;
    return a != a ? a : m;
  }
};

// Clamp `x` to [low, high], neither of which is NaN; NaN propagates.
template <class T>
DL_FN T brought_between(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

// Clamps to [low, high]. NaN propagates, and a NaN bound makes every result NaN.
template <class T>
class Between {
 public:
  Between(T low, T high) : low_(high == high ? low : high), high_(low == low ? high : low) {}
  DL_FN T operator()(T x) const {
    const T raised = x >= low_ ? x : low_;
    const T between = raised <= high_ ? raised : high_;
    if constexpr (std::is_floating_point_v<T>) return x != x ? x : between;
    return between;
  }

 private:
  T low_, high_;  // both are NaN, or neither
};

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_NUMERIC_H_
