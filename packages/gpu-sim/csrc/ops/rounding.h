#pragma once

#include <cfenv>

#include "half.h"
#include "lanes.h"

namespace sim {

/** Decode `.rn`, `.rz`, `.rm` or `.rp` if it is next. */
inline Rounding take_rounding(Decoder& decoder, bool* given = nullptr) {
  const int found = decoder.take_one_of({"rn", "rz", "rm", "rp"});
  if (given != nullptr) *given = found >= 0;
  return found < 0 ? Rounding::kNearest : static_cast<Rounding>(found);
}

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD,
                                     FE_TONEAREST};
    std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

/** Run an action in the rounding mode of Instruction::choice. */
template <Action kInner>
void rounded(Warp& warp, const Instruction& instruction, uint32_t mask) {
  const RoundingScope scope(static_cast<Rounding>(instruction.choice));
  kInner(warp, instruction, mask);
}

template <class T>
T flushed(T value) {
  using U = Bits<T>;
  constexpr U kSign = U{1} << (8 * sizeof(T) - 1);
  constexpr U kExponent =
      sizeof(T) == 4 ? static_cast<U>(0x7f800000u) : static_cast<U>(0x7ff0000000000000ull);
  const U bits = bits_as<U>(value);
  return (bits & kExponent) == 0 ? bits_as<T>(static_cast<U>(bits & kSign)) : value;
}

template <bool kFlush>
float in(float value) {
  return kFlush ? flushed(value) : value;
}
template <bool kFlush>
double in(double value) {
  return value;
}

/** Adjust a result as GPUs do: canonical NaN, flushed subnormals, saturation to [0, 1]. */
template <bool kFlush, bool kSaturate>
float out(float value) {
  if (value != value) return kSaturate ? 0.0f : bits_as<float>(uint32_t{0x7fffffff});
  if (kFlush) value = flushed(value);
  if (kSaturate) value = value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
  return value;
}
template <bool kFlush, bool kSaturate>
double out(double value) {
  return value;
}

}  // namespace sim
