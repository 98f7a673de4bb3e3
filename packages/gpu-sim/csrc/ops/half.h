#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace sim {

/** Rounding mode. */
enum class Rounding : uint8_t { kNearest, kZero, kDown, kUp, kAway };

/** Floating-point format of at most 16 bits: number of exponent and fraction bits. */
template <int kExponent, int kFraction>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint32_t kInfinity = ((1u << kExponent) - 1) << kFraction;
  static constexpr uint32_t kSign = 1u << (kExponent + kFraction);

  static double widen(uint32_t bits) {
    const uint32_t exponent = bits >> kFraction & ((1u << kExponent) - 1);
    const uint32_t fraction = bits & ((1u << kFraction) - 1);
    double value;
    if (exponent == (1u << kExponent) - 1) {
      value = fraction != 0 ? std::nan("") : HUGE_VAL;
    } else if (exponent == 0) {
      value = std::ldexp(static_cast<double>(fraction), 1 - kBias - kFraction);
    } else {
      value = std::ldexp(static_cast<double>(fraction | 1u << kFraction),
                         static_cast<int>(exponent) - kBias - kFraction);
    }
    return (bits & kSign) != 0 ? -value : value;
  }

  static uint32_t narrow(double value, Rounding rounding = Rounding::kNearest) {
    if (value != value) return kSign - 1;  // canonical NaN of GPUs
    uint64_t wide;
    std::memcpy(&wide, &value, sizeof wide);
    const bool negative = wide >> 63 != 0;
    const uint32_t sign = negative ? kSign : 0;
    const auto exponent = static_cast<int>(wide >> 52 & 0x7ff);
    if (exponent == 0x7ff) return sign | kInfinity;
    if (exponent == 0) return sign | (away(rounding, negative) && (wide << 1) != 0 ? 1u : 0u);
    const uint64_t fraction = (wide & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
    int target = exponent - 1023 + kBias;
    int drop = 52 - kFraction;
    if (target < 1) {
      drop += 1 - target;
      target = 1;
    }
    if (drop > 54) drop = 54;
    uint64_t kept = fraction >> drop;
    const uint64_t rest = fraction & ((uint64_t{1} << drop) - 1);
    const uint64_t half = uint64_t{1} << (drop - 1);
    bool up = false;
    switch (rounding) {
      case Rounding::kNearest:
        up = rest > half || (rest == half && (kept & 1) != 0);
        break;
      case Rounding::kAway:
        up = rest >= half;
        break;
      default:
        up = rest != 0 && away(rounding, negative);
    }
    kept += up;
    // A carry out of the fraction increments the exponent.
    const uint64_t bits = (static_cast<uint64_t>(target - 1) << kFraction) + kept;
    if (bits >= kInfinity) {
      const bool to_infinity =
          rounding == Rounding::kNearest || rounding == Rounding::kAway || away(rounding, negative);
      return sign | (to_infinity ? kInfinity : kInfinity - 1);
    }
    return sign | static_cast<uint32_t>(bits);
  }

 private:
  static bool away(Rounding rounding, bool negative) {
    return (rounding == Rounding::kUp && !negative) || (rounding == Rounding::kDown && negative);
  }
};

using Half = SmallFloat<5, 10>;
using Brain = SmallFloat<8, 7>;
using TensorFloat = SmallFloat<8, 10>;

/** Return x + y, rounded to odd: rounding it again to at most 50 bits rounds the exact sum. */
inline double add_to_odd(double x, double y) {
  const double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  const double back = sum - x;
  const double error = (x - (sum - back)) + (y - back);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if (error != 0 && (bits & 1) == 0) {
    // Set the last bit if the sum is inexact.
    if ((error > 0) == (sum > 0)) {
      bits |= 1;
    } else {
      --bits;
    }
  }
  double odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

}  // namespace sim
