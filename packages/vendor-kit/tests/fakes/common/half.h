// Half precision as bits, converted by the compiler's own type.
#ifndef DL_FAKES_HALF_H_
#define DL_FAKES_HALF_H_

#include <cstdint>
#include <cstring>

namespace fakes {

// Compilers for aarch64 before g++ 13 lack _Float16 in C++.
#if defined(__aarch64__)
using NativeHalf = __fp16;
#else
using NativeHalf = _Float16;
#endif

inline float half_value(uint16_t bits) {
  NativeHalf value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<float>(value);
}

// Rounds once, also from double.
template <class T>
uint16_t half_bits(T value) {
  const auto half = static_cast<NativeHalf>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

}  // namespace fakes

#endif  // DL_FAKES_HALF_H_
