// Division by a number that is known at launch, as a multiplication and a shift. Source: Granlund
// and Montgomery, Division by Invariant Integers using Multiplication (1994).
#ifndef DL_KERNELS_GPU_DIVIDER_H_
#define DL_KERNELS_GPU_DIVIDER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace gpu {

// Divides numbers below 2^31 by a divisor from 1 to 2^31.
struct Divider {
  int32_t by = 1;
  uint32_t factor = 0;
  int shift = 0;

  Divider() = default;
  explicit Divider(int64_t divisor) : by(static_cast<int32_t>(divisor)) {
    // 2^shift is the smallest power that is not less than the divisor.
    while ((int64_t(1) << shift) < divisor) ++shift;
    const uint64_t high = (uint64_t(1) << shift) - static_cast<uint64_t>(divisor);
    factor = static_cast<uint32_t>((high << 32) / static_cast<uint64_t>(divisor) + 1);
  }

  DL_FN uint32_t divisor() const { return static_cast<uint32_t>(by); }
  DL_FN uint32_t quotient(uint32_t n) const {
    const auto high = static_cast<uint32_t>((uint64_t{n} * factor) >> 32);
    return (high + n) >> shift;
  }
  DL_FN int32_t quotient(int32_t n) const {
    return static_cast<int32_t>(quotient(static_cast<uint32_t>(n)));
  }
  // Return the remainder; n becomes the quotient.
  DL_FN int32_t split(int32_t& n) const {
    const int32_t whole = quotient(n), rest = n - whole * by;
    n = whole;
    return rest;
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_DIVIDER_H_
