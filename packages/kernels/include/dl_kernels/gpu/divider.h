// GPU: division by a number that is known before the launch, as a multiplication and a shift.
// Source: Granlund and Montgomery, Division by invariant integers using multiplication (1994).
#ifndef DL_KERNELS_GPU_DIVIDER_H_
#define DL_KERNELS_GPU_DIVIDER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace gpu {

// Dividends are below 2^31; the divisor is in [1, 2^31].
class Divider {
 public:
  Divider() = default;
  explicit Divider(uint32_t divisor) : divisor_(divisor), shift_(0) {
    while ((uint64_t(1) << shift_) < divisor) ++shift_;
    const uint64_t rest = (uint64_t(1) << shift_) - divisor;
    multiplier_ = static_cast<uint32_t>((rest << 32) / divisor + 1);
  }

  DL_FN uint32_t divisor() const { return divisor_; }
  DL_FN uint32_t quotient(uint32_t dividend) const {
    const uint32_t high = static_cast<uint32_t>((uint64_t(dividend) * multiplier_) >> 32);
    return (high + dividend) >> shift_;
  }

 private:
  uint32_t divisor_, multiplier_, shift_;
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_DIVIDER_H_
