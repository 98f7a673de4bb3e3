// The two 16-bit floating-point formats as storage types. Kernels compute in float; only loads and
// stores convert. Machines without conversion instructions use branch-free integer code, which
// compilers vectorize on every instruction set, unlike scalar conversion instructions.
#ifndef DL_KERNELS_BASE_FLOAT16_H_
#define DL_KERNELS_BASE_FLOAT16_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

template <class To, class From>
DL_FN To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

// IEEE 754 binary16.
struct Half {
  uint16_t bits;

  Half() = default;
  DL_FN explicit Half(float value) : bits(encode(value)) {}
  DL_FN explicit operator float() const { return decode(bits); }

  // Pack two values; the first one is in the low 16 bits.
  DL_FN static uint32_t pair(float first, float second) {
#if defined(DL_HALF_INSTRUCTIONS)
    return gpu::half_pair_of_floats(first, second);
#else
    return encode(first) | static_cast<uint32_t>(encode(second)) << 16;
#endif
  }

 private:
#if defined(DL_HALF_INSTRUCTIONS)
  DL_FN static float decode(uint16_t half) { return gpu::float_of_half(half); }
  DL_FN static uint16_t encode(float value) { return gpu::half_of_float(value); }
#else
  DL_FN static float decode(uint16_t half) {
    // The multiplication moves the exponent bias from 15 to 127 and normalizes subnormals on the
    // way.
    const float magnitude = bit_cast<float>(static_cast<uint32_t>(half & 0x7fffu) << 13) * 0x1p112f;
    const uint32_t special = (half & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
    return bit_cast<float>(bit_cast<uint32_t>(magnitude) | special |
                           (static_cast<uint32_t>(half & 0x8000u) << 16));
  }

  DL_FN static uint16_t encode(float value) {
    const uint32_t whole = bit_cast<uint32_t>(value);
    const uint32_t sign = (whole >> 16) & 0x8000u;
    const uint32_t magnitude = whole & 0x7fffffffu;
    // Adding 0.5 aligns the bits of a subnormal result and rounds it to nearest even.
    const uint32_t subnormal = bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;  // 65520 and above round to infinity
    half = magnitude > 0x7f800000u ? 0x7e00u : half;
    return static_cast<uint16_t>(half | sign);
  }
#endif
};

// bfloat16: the upper 16 bits of an IEEE 754 binary32.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  DL_FN explicit BFloat16(float value) : bits(encode(value)) {}
  DL_FN explicit operator float() const {
    return bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  // Pack two values; the first one is in the low 16 bits.
  DL_FN static uint32_t pair(float first, float second) {
#if defined(DL_BFLOAT16_INSTRUCTIONS)
    return gpu::bfloat16_pair_of_floats(first, second);
#else
    return encode(first) | static_cast<uint32_t>(encode(second)) << 16;
#endif
  }

 private:
#if defined(DL_BFLOAT16_INSTRUCTIONS)
  DL_FN static uint16_t encode(float value) { return gpu::bfloat16_of_float(value); }
#else
  DL_FN static uint16_t encode(float value) {
    const uint32_t whole = bit_cast<uint32_t>(value);
    const uint32_t rounded = (whole + 0x7fffu + ((whole >> 16) & 1u)) >> 16;
    return static_cast<uint16_t>((whole & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
  }
#endif
};

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_FLOAT16_H_
