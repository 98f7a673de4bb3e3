// Division by a number that is known when a kernel is launched, as a multiplication and a shift.
// Source: Granlund and Montgomery, Division by invariant integers using multiplication (1994).
#ifndef DL_KERNELS_GPU_DIVIDER_H_
#define DL_KERNELS_GPU_DIVIDER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace gpu {

// Of numbers that are not negative, by one that is positive.
struct Divider {
  int32_t by = 1;
  uint32_t factor = 0;
  int shift = 0;

  Divider() = default;
  explicit Divider(int64_t divisor) : by(static_cast<int32_t>(divisor)) {
    // 2^shift is the first power that is not below the divisor.
    while ((int64_t(1) << shift) < divisor) ++shift;
    const uint64_t high = (uint64_t(1) << shift) - static_cast<uint64_t>(divisor);
    factor = static_cast<uint32_t>((high << 32) / static_cast<uint64_t>(divisor) + 1);
  }

  DL_FN int32_t quotient(int32_t n) const {
    const auto of = static_cast<uint32_t>(n);
    const auto high = static_cast<uint32_t>((uint64_t{of} * factor) >> 32);
    return static_cast<int32_t>((high + of) >> shift);
  }
  // The remainder; n becomes the quotient.
  DL_FN int32_t split(int32_t& n) const {
    const int32_t whole = quotient(n), rest = n - whole * by;
    n = whole;
    return rest;
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_DIVIDER_H_
