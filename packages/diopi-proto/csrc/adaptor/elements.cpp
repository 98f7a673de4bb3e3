#include "adaptor/elements.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dl/dtype.h"

namespace dl::adaptor {
namespace {

// 16-bit floating-point number with `kMantissa` mantissa bits; rounds to nearest, ties to even.
template <int kMantissa>
struct Half {
  static constexpr int kExponent = 15 - kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint16_t kInfinite = static_cast<uint16_t>(((1 << kExponent) - 1) << kMantissa);

  uint16_t bits;

  static Half of(double value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (std::isnan(value)) return {static_cast<uint16_t>(sign | kInfinite | 1 << (kMantissa - 1))};
    if (std::isinf(value)) return {static_cast<uint16_t>(sign | kInfinite)};
    if (size == 0) return {sign};
    int exponent = 0;
    std::frexp(size, &exponent);  // size < 2^exponent
    exponent = std::max(exponent - 1, 1 - kBias);
    // The value in ULPs; rounding up to the next exponent carries into the exponent bits.
    const double units = std::nearbyint(std::ldexp(size, kMantissa - exponent));
    const double carried = units + std::ldexp(exponent + kBias - 1, kMantissa);
    const double most = kInfinite;
    return {static_cast<uint16_t>(sign | static_cast<uint16_t>(carried < most ? carried : most))};
  }

  double number() const {
    const int exponent = (bits & 0x7fff) >> kMantissa;
    const int mantissa = bits & ((1 << kMantissa) - 1);
    double size;
    if (exponent == (1 << kExponent) - 1) {
      size = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      size = std::ldexp(mantissa, 1 - kBias - kMantissa);
    } else {
      size = std::ldexp(mantissa + (1 << kMantissa), exponent - kBias - kMantissa);
    }
    return (bits & 0x8000) != 0 ? -size : size;
  }
};
using Float16 = Half<10>;
using Bfloat16 = Half<7>;

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;
template <typename T>
constexpr bool kIsFloat = kIsHalf<T> || std::is_floating_point_v<T>;

template <typename T>
auto number(T value) {
  if constexpr (kIsHalf<T>) {
    return value.number();
  } else {
    return value;
  }
}

template <typename To, typename From>
To converted(From value) {
  if constexpr (kIsHalf<To>) {
    return To::of(number(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return number(value) != 0;
  } else {
    return static_cast<To>(number(value));
  }
}

template <typename To, typename From>
bool fits(From value) {
  if constexpr (kIsFloat<From>) {
    return !std::isfinite(static_cast<double>(number(value))) ||
           std::isfinite(static_cast<double>(number(converted<To>(value))));
  } else if constexpr (std::is_same_v<To, bool>) {
    return true;
  } else {
    const To there = static_cast<To>(value);
    return static_cast<From>(there) == value && (there < To{}) == (value < From{});
  }
}

// Both call `body` with a value of a dtype's C++ type (complex dtypes: of their real part's type).
template <typename Body>
bool with_integer(int32_t dtype, Body&& body) {
  switch (dtype) {
    case diopi_dtype_int8:
      return body(int8_t{}), true;
    case diopi_dtype_uint8:
      return body(uint8_t{}), true;
    case diopi_dtype_int16:
      return body(int16_t{}), true;
    case diopi_dtype_uint16:
      return body(uint16_t{}), true;
    case diopi_dtype_int32:
      return body(int32_t{}), true;
    case diopi_dtype_uint32:
      return body(uint32_t{}), true;
    case diopi_dtype_int64:
      return body(int64_t{}), true;
    case diopi_dtype_uint64:
      return body(uint64_t{}), true;
    case diopi_dtype_bool:
      return body(bool{}), true;
    default:
      return false;
  }
}

template <typename Body>
bool with_float(int32_t dtype, Body&& body) {
  switch (dtype) {
    case diopi_dtype_float16:
    case diopi_dtype_complex32:
      return body(Float16{}), true;
    case diopi_dtype_bfloat16:
      return body(Bfloat16{}), true;
    case diopi_dtype_float32:
    case diopi_dtype_complex64:
      return body(float{}), true;
    case diopi_dtype_float64:
    case diopi_dtype_complex128:
      return body(double{}), true;
    default:
      return false;
  }
}

bool is_complex(int32_t dtype) {
  return dtype == diopi_dtype_complex32 || dtype == diopi_dtype_complex64 ||
         dtype == diopi_dtype_complex128;
}

// Calls `body(From{}, To{})`; returns false if the conversion is not supported.
template <typename Body>
bool with_both(int32_t from, int32_t to, Body&& body) {
  bool found = false;
  with_integer(from, [&](auto f) { found = with_integer(to, [&](auto t) { body(f, t); }); });
  if (!found && is_complex(from) == is_complex(to)) {
    with_float(from, [&](auto f) { found = with_float(to, [&](auto t) { body(f, t); }); });
  }
  return found;
}

// Calls `body(from, to, count)` for each row of the last dimension, in row-major order, with the
// element offsets of the row's beginning, until `body` returns false.
template <typename Body>
void each_row(int64_t ndim, const int64_t* sizes, const int64_t* from, const int64_t* to,
              Body&& body) {
  constexpr int64_t kMost = 64;
  for (int64_t d = 0; d < ndim; ++d) {
    if (sizes[d] == 0) return;
  }
  if (ndim > kMost) return;  // hosts do not create such tensors
  int64_t index[kMost] = {};
  int64_t at_from = 0, at_to = 0;
  const int64_t count = ndim == 0 ? 1 : sizes[ndim - 1];
  for (;;) {
    if (!body(at_from, at_to, count)) return;
    int64_t d = ndim - 2;
    for (; d >= 0; --d) {
      at_from += from[d];
      at_to += to[d];
      if (++index[d] < sizes[d]) break;
      at_from -= from[d] * sizes[d];
      at_to -= to[d] * sizes[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <typename T>
T read(const char* address) {
  T value;
  if constexpr (std::is_same_v<T, bool>) {
    return *address != 0;  // loading a bool other than 0 or 1 would be undefined behavior
  } else {
    std::memcpy(&value, address, sizeof value);
    return value;
  }
}

template <typename T>
std::string shown(T value) {
  char text[64];
  if constexpr (kIsFloat<T>) {
    std::snprintf(text, sizeof text, "%.17g", static_cast<double>(number(value)));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    std::snprintf(text, sizeof text, "%" PRIu64, value);
  } else {
    std::snprintf(text, sizeof text, "%" PRId64, static_cast<int64_t>(value));
  }
  return text;
}

}  // namespace

bool convertible(int32_t from, int32_t to) {
  return from == to || with_both(from, to, [](auto, auto) {});
}

bool narrows(int32_t from, int32_t to) {
  bool found = false;
  with_both(from, to, [&](auto f, auto t) {
    using From = decltype(f);
    using To = decltype(t);
    if constexpr (kIsFloat<From>) {
      // The largest values: float16 has the smallest range; bfloat16 has almost the range of
      // float32.
      constexpr double kLargest[] = {65504.0, 3.3895313892515355e38, 3.4028234663852886e38,
                                     std::numeric_limits<double>::max()};
      const auto rank = [](auto value) {
        using T = decltype(value);
        return std::is_same_v<T, Float16>    ? 0
               : std::is_same_v<T, Bfloat16> ? 1
               : std::is_same_v<T, float>    ? 2
                                             : 3;
      };
      found = kLargest[rank(f)] > kLargest[rank(t)];
    } else if constexpr (!std::is_same_v<From, bool> && !std::is_same_v<To, bool>) {
      found = !fits<To>(std::numeric_limits<From>::max()) ||
              !fits<To>(std::numeric_limits<From>::min());
    }
  });
  return found;
}

std::string first_unfit(const Elements& from, int32_t to) {
  std::string found;
  const int64_t parts = is_complex(from.dtype) ? 2 : 1;
  with_both(from.dtype, to, [&](auto f, auto t) {
    using From = decltype(f);
    using To = decltype(t);
    int64_t position = 0;
    const int64_t step = from.ndim == 0 ? 0 : from.strides[from.ndim - 1];
    each_row(from.ndim, from.sizes, from.strides, from.strides,
             [&](int64_t at, int64_t, int64_t count) {
               for (int64_t i = 0; i < count * parts; ++i) {
                 const int64_t element = (at + i / parts * step) * parts + i % parts;
                 const From value = read<From>(from.data + element * sizeof(From));
                 if (fits<To>(value)) continue;
                 found = shown(value) + " at position " + std::to_string(position + i / parts);
                 return false;
               }
               position += count;
               return true;
             });
  });
  return found;
}

void convert(const Elements& from, const Elements& to) {
  const int64_t from_step = from.ndim == 0 ? 0 : from.strides[from.ndim - 1];
  const int64_t to_step = to.ndim == 0 ? 0 : to.strides[to.ndim - 1];
  if (from.dtype == to.dtype) {
    const int64_t bytes = dl_dtype_bytes(from.dtype);
    each_row(from.ndim, from.sizes, from.strides, to.strides,
             [&](int64_t here, int64_t there, int64_t count) {
               for (int64_t i = 0; i < count; ++i)
                 std::memcpy(to.data + (there + i * to_step) * bytes,
                             from.data + (here + i * from_step) * bytes, bytes);
               return true;
             });
    return;
  }
  const int64_t parts = is_complex(from.dtype) ? 2 : 1;
  with_both(from.dtype, to.dtype, [&](auto f, auto t) {
    using From = decltype(f);
    using To = decltype(t);
    each_row(from.ndim, from.sizes, from.strides, to.strides,
             [&](int64_t here, int64_t there, int64_t count) {
               for (int64_t i = 0; i < count * parts; ++i) {
                 const int64_t source = (here + i / parts * from_step) * parts + i % parts;
                 const int64_t target = (there + i / parts * to_step) * parts + i % parts;
                 const To value = converted<To>(read<From>(from.data + source * sizeof(From)));
                 std::memcpy(to.data + target * sizeof(To), &value, sizeof value);
               }
               return true;
             });
  });
}

}  // namespace dl::adaptor
