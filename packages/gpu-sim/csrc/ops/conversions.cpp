// cvt: conversions between all numeric types, rounded once.

#include <cmath>

#include "rounding.h"
#include "table.h"

namespace sim {
namespace {

/** Rounding of a conversion (`.rni`, `.rzi`, `.rmi`, `.rpi`, `.rn` …), in Instruction::choice.
 */
enum : uint8_t { kRoundingBits = 7, kToWhole = 8, kSaturate = 16, kFlush = 32, kPositive = 64 };

Rounding rounding_of(const Instruction& i) {
  return static_cast<Rounding>(i.choice & kRoundingBits);
}

template <class T>
T load_lane(const Warp& warp, uint32_t place, unsigned stride, int lane) {
  return value_at<T>(warp, place, stride, lane);
}
/** Sign- or zero-extend a result to a register that is wider than the type. */
template <class T>
void store_lane(const Warp& warp, uint32_t place, unsigned stride, int lane, T value) {
  uint8_t* into = at<uint8_t>(warp, place) + stride * static_cast<unsigned>(lane);
  if (stride == sizeof(T)) {
    __builtin_memcpy(into, &value, sizeof value);
    return;
  }
  const auto wide = static_cast<int64_t>(value);
  __builtin_memcpy(into, &wide, stride);
}

double to_whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

template <class D, class S>
void whole_to_whole(Warp& warp, const Instruction& i, uint32_t mask) {
  const bool saturate = (i.choice & kSaturate) != 0;
  each_lane(mask, [&](int lane) {
    const S value = load_lane<S>(warp, i.a, i.a_bytes, lane);
    D result = static_cast<D>(value);
    if (saturate) {
      const auto wide = static_cast<__int128>(value);
      constexpr auto kLeast = static_cast<__int128>(std::numeric_limits<D>::min());
      constexpr auto kMost = static_cast<__int128>(std::numeric_limits<D>::max());
      result = static_cast<D>(wide < kLeast ? kLeast : wide > kMost ? kMost : wide);
    }
    store_lane(warp, i.d, i.d_bytes, lane, result);
  });
}

struct Single {
  using Bits = float;
  static double widen(float value) { return value; }
};
struct Double {
  using Bits = double;
  static double widen(double value) { return value; }
};
template <class Format>
struct Small {
  using Bits = uint16_t;
  static double widen(uint16_t value) { return Format::widen(value); }
};

double flushed_source(double value, const Instruction& i) {
  return (i.choice & kFlush) != 0 && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value)
                                                                 : value;
}

template <class D, class S>
void float_to_whole(Warp& warp, const Instruction& i, uint32_t mask) {
  const Rounding rounding = rounding_of(i);
  each_lane(mask, [&](int lane) {
    double value = S::widen(load_lane<typename S::Bits>(warp, i.a, i.a_bytes, lane));
    if (sizeof(typename S::Bits) == 4) value = flushed_source(value, i);
    D result;
    if (value != value) {
      // NaN becomes the sign bit alone if a 64-bit type is involved, otherwise 0.
      constexpr bool kWide = sizeof(D) == 8 || sizeof(typename S::Bits) == 8;
      result = kWide ? static_cast<D>(uint64_t{1} << (8 * sizeof(D) - 1)) : D{0};
    } else {
      value = to_whole(value, rounding);
      constexpr D kLeast = std::numeric_limits<D>::min(), kMost = std::numeric_limits<D>::max();
      // The maximum value itself may not be representable as double.
      if (value >= std::ldexp(1.0, std::numeric_limits<D>::digits)) {
        result = kMost;
      } else if (value <= static_cast<double>(kLeast)) {
        result = kLeast;
      } else {
        result = static_cast<D>(value);
      }
    }
    store_lane(warp, i.d, i.d_bytes, lane, result);
  });
}

float narrow_single(double value, Rounding rounding) {
  const RoundingScope scope(rounding);
  // volatile: must not be moved across the change of the rounding mode.
  volatile double source = value;
  volatile float result = static_cast<float>(source);
  return result;
}

template <class S>
void float_to_single(Warp& warp, const Instruction& i, uint32_t mask) {
  float* d = at<float>(warp, i.d);
  const bool flush = (i.choice & kFlush) != 0;
  const Rounding rounding = rounding_of(i);
  each_lane(mask, [&](int lane) {
    double value = S::widen(load_lane<typename S::Bits>(warp, i.a, i.a_bytes, lane));
    if (sizeof(typename S::Bits) == 4) value = flushed_source(value, i);
    if ((i.choice & kToWhole) != 0) value = to_whole(value, rounding);
    float result = rounding == Rounding::kNearest || sizeof(typename S::Bits) < 8 || value != value
                       ? static_cast<float>(value)
                       : narrow_single(value, rounding);
    if ((i.choice & kPositive) != 0 && result < 0) result = 0;
    d[lane] =
        flush
            ? ((i.choice & kSaturate) != 0 ? out<true, true>(result) : out<true, false>(result))
            : ((i.choice & kSaturate) != 0 ? out<false, true>(result) : out<false, false>(result));
  });
}

template <class S>
void float_to_double(Warp& warp, const Instruction& i, uint32_t mask) {
  double* d = at<double>(warp, i.d);
  each_lane(mask, [&](int lane) {
    double value = S::widen(load_lane<typename S::Bits>(warp, i.a, i.a_bytes, lane));
    if (sizeof(typename S::Bits) == 4) value = flushed_source(value, i);
    if ((i.choice & kToWhole) != 0) value = to_whole(value, rounding_of(i));
    if ((i.choice & kSaturate) != 0) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
    d[lane] = value;
  });
}

double limited(double value, const Instruction& i) {
  if ((i.choice & kToWhole) != 0) value = to_whole(value, rounding_of(i));
  if ((i.choice & kPositive) != 0 && value < 0) value = 0;
  if ((i.choice & kSaturate) != 0) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
  return value;
}

template <class Format, class S>
void float_to_small(Warp& warp, const Instruction& i, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    double value = S::widen(load_lane<typename S::Bits>(warp, i.a, i.a_bytes, lane));
    if (sizeof(typename S::Bits) == 4) value = flushed_source(value, i);
    const auto bits = static_cast<uint16_t>(Format::narrow(limited(value, i), rounding_of(i)));
    store_lane(warp, i.d, i.d_bytes, lane, bits);
  });
}

template <class D, class S>
D from_whole(S value, Rounding rounding) {
  if (rounding == Rounding::kNearest) return static_cast<D>(value);
  const RoundingScope scope(rounding);
  volatile S source = value;
  volatile D result = static_cast<D>(source);
  return result;
}

template <class D, class S>
void whole_to_float(Warp& warp, const Instruction& i, uint32_t mask) {
  D* d = at<D>(warp, i.d);
  const bool saturate = (i.choice & kSaturate) != 0;
  each_lane(mask, [&](int lane) {
    D result = from_whole<D>(load_lane<S>(warp, i.a, i.a_bytes, lane), rounding_of(i));
    if (saturate) result = result > 0 ? (result < 1 ? result : D{1}) : D{0};
    d[lane] = result;
  });
}

/** Convert an integer to a double that rounds to a small format like the integer. */
template <class S>
double whole_to_odd(S value) {
  const bool negative = std::is_signed_v<S> && value < 0;
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
  const auto wide = static_cast<double>(magnitude);
  return negative ? -wide : wide;
}

template <class Format, class S>
void whole_to_small(Warp& warp, const Instruction& i, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    const double value = whole_to_odd(load_lane<S>(warp, i.a, i.a_bytes, lane));
    store_lane(warp, i.d, i.d_bytes, lane,
               static_cast<uint16_t>(Format::narrow(limited(value, i), rounding_of(i))));
  });
}

template <template <class> class Make>
Action by_whole(Decoder& decoder, Type type) {
  const bool sign = type.kind == Kind::kSigned;
  switch (type.bytes) {
    case 1:
      return sign ? Make<int8_t>::action() : Make<uint8_t>::action();
    case 2:
      return sign ? Make<int16_t>::action() : Make<uint16_t>::action();
    case 4:
      return sign ? Make<int32_t>::action() : Make<uint32_t>::action();
    case 8:
      return sign ? Make<int64_t>::action() : Make<uint64_t>::action();
    default:
      decoder.refuse("unsupported type");
  }
}

template <class D>
struct IntoWhole {
  template <class S>
  struct From {
    static Action action() { return whole_to_whole<D, S>; }
  };
};
template <class D>
struct FromSingle {
  static Action action() { return float_to_whole<D, Single>; }
};
template <class D>
struct FromDouble {
  static Action action() { return float_to_whole<D, Double>; }
};
template <class D>
struct FromHalf {
  static Action action() { return float_to_whole<D, Small<Half>>; }
};
template <class D>
struct FromBrain {
  static Action action() { return float_to_whole<D, Small<Brain>>; }
};
template <class S>
struct ToSingle {
  static Action action() { return whole_to_float<float, S>; }
};
template <class S>
struct ToDouble {
  static Action action() { return whole_to_float<double, S>; }
};
template <class S>
struct ToHalf {
  static Action action() { return whole_to_small<Half, S>; }
};
template <class S>
struct ToBrain {
  static Action action() { return whole_to_small<Brain, S>; }
};

Action whole_whole(Decoder& decoder, Type d, Type s) {
  const bool sign = d.kind == Kind::kSigned;
  switch (d.bytes) {
    case 1:
      return sign ? by_whole<IntoWhole<int8_t>::From>(decoder, s)
                  : by_whole<IntoWhole<uint8_t>::From>(decoder, s);
    case 2:
      return sign ? by_whole<IntoWhole<int16_t>::From>(decoder, s)
                  : by_whole<IntoWhole<uint16_t>::From>(decoder, s);
    case 4:
      return sign ? by_whole<IntoWhole<int32_t>::From>(decoder, s)
                  : by_whole<IntoWhole<uint32_t>::From>(decoder, s);
    default:
      return sign ? by_whole<IntoWhole<int64_t>::From>(decoder, s)
                  : by_whole<IntoWhole<uint64_t>::From>(decoder, s);
  }
}

enum class Shape : uint8_t { kWhole, kSingle, kDouble, kHalf, kBrain };
Shape shape_of(Decoder& decoder, Type type) {
  if (type.lanes == 1 && type.is_integer() && type.kind != Kind::kBits) return Shape::kWhole;
  if (type.lanes == 1 && type.kind == Kind::kFloat)
    return type.bytes == 8 ? Shape::kDouble : type.bytes == 4 ? Shape::kSingle : Shape::kHalf;
  if (type.lanes == 1 && type.kind == Kind::kBrain) return Shape::kBrain;
  decoder.refuse("unsupported type");
}

template <class S>
Action float_float(Shape d) {
  switch (d) {
    case Shape::kSingle:
      return float_to_single<S>;
    case Shape::kDouble:
      return float_to_double<S>;
    case Shape::kHalf:
      return float_to_small<Half, S>;
    default:
      return float_to_small<Brain, S>;
  }
}

Action choose(Decoder& decoder, Type into, Type from) {
  const Shape d = shape_of(decoder, into), s = shape_of(decoder, from);
  if (d == Shape::kWhole) {
    switch (s) {
      case Shape::kWhole:
        return whole_whole(decoder, into, from);
      case Shape::kSingle:
        return by_whole<FromSingle>(decoder, into);
      case Shape::kDouble:
        return by_whole<FromDouble>(decoder, into);
      case Shape::kHalf:
        return by_whole<FromHalf>(decoder, into);
      default:
        return by_whole<FromBrain>(decoder, into);
    }
  }
  if (s == Shape::kWhole) {
    switch (d) {
      case Shape::kSingle:
        return by_whole<ToSingle>(decoder, from);
      case Shape::kDouble:
        return by_whole<ToDouble>(decoder, from);
      case Shape::kHalf:
        return by_whole<ToHalf>(decoder, from);
      default:
        return by_whole<ToBrain>(decoder, from);
    }
  }
  switch (s) {
    case Shape::kSingle:
      return float_float<Single>(d);
    case Shape::kDouble:
      return float_float<Double>(d);
    case Shape::kHalf:
      return float_float<Small<Half>>(d);
    default:
      return float_float<Small<Brain>>(d);
  }
}

/** `cvt.rn.f16x2.f32 d, a, b`: a becomes the upper half. */
template <class Format>
void two_to_pair(Warp& warp, const Instruction& i, uint32_t mask) {
  uint32_t* d = at<uint32_t>(warp, i.d);
  const float *a = at<float>(warp, i.a), *b = at<float>(warp, i.b);
  each_lane(mask, [&](int lane) {
    const auto half = [&](float value) {
      return Format::narrow(limited(value, i), rounding_of(i));
    };
    d[lane] = half(a[lane]) << 16 | half(b[lane]);
  });
}

void run_tensor_float(Warp& warp, const Instruction& i, uint32_t mask) {
  uint32_t* d = at<uint32_t>(warp, i.d);
  const float* a = at<float>(warp, i.a);
  each_lane(mask, [&](int lane) {
    const uint32_t bits = bits_as<uint32_t>(a[lane]);
    d[lane] =
        a[lane] != a[lane] ? bits : TensorFloat::narrow(limited(a[lane], i), rounding_of(i)) << 13;
  });
}

void pair_cvt(Decoder& decoder, Type into) {
  if (!(decoder.type() == Type{Kind::kFloat, 4})) decoder.refuse("unsupported type");
  decoder.want_operands(3, 3);
  decoder.out.d = decoder.write(0, kB32);
  decoder.out.a = decoder.read(1, Type{Kind::kFloat, 4});
  decoder.out.b = decoder.read(2, Type{Kind::kFloat, 4});
  decoder.out.action = into.kind == Kind::kBrain ? two_to_pair<Brain> : two_to_pair<Half>;
}

void cvt(Decoder& decoder) {
  static constexpr Rounding kRoundings[] = {Rounding::kNearest, Rounding::kZero, Rounding::kDown,
                                            Rounding::kUp, Rounding::kAway};
  uint8_t choice = 0;
  const int whole = decoder.take_one_of({"rni", "rzi", "rmi", "rpi"});
  const int plain = whole >= 0 ? -1 : decoder.take_one_of({"rn", "rz", "rm", "rp", "rna"});
  if (whole >= 0) choice = static_cast<uint8_t>(kRoundings[whole]) | kToWhole;
  if (plain >= 0) choice = static_cast<uint8_t>(kRoundings[plain]);
  if (decoder.take("ftz")) choice |= kFlush;
  if (decoder.take("relu")) choice |= kPositive;
  if (decoder.take("satfinite")) decoder.refuse("'.satfinite' is not supported");
  if (decoder.take("sat")) choice |= kSaturate;
  decoder.out.choice = choice;
  const Type into = decoder.type();
  if (into.lanes == 2) return pair_cvt(decoder, into);
  const Type from = decoder.type();
  decoder.want_operands(2, 2);
  if (into.kind == Kind::kTensorFloat) {
    if (!(from == Type{Kind::kFloat, 4})) decoder.refuse("unsupported type");
    decoder.out.d = decoder.write(0, kB32);
    decoder.out.a = decoder.read(1, from);
    decoder.out.action = run_tensor_float;
    return;
  }
  const Shape d = shape_of(decoder, into), s = shape_of(decoder, from);
  decoder.out.action = choose(decoder, into, from);
  const bool floats = d != Shape::kWhole && s != Shape::kWhole;
  if (d == Shape::kWhole && s != Shape::kWhole && whole < 0)
    decoder.refuse("it needs one of .rni, .rzi, .rmi, .rpi");
  if (!floats && d != Shape::kWhole && plain < 0) decoder.refuse("it needs a rounding modifier");
  if (d == Shape::kWhole && s == Shape::kWhole && (choice & ~kSaturate) != 0)
    decoder.refuse("a conversion between integers takes no rounding modifier");
  decoder.out.d = decoder.write(0, Type{Kind::kBits, into.bytes}, true);
  decoder.out.a = decoder.read(1, from, true);
  decoder.out.d_bytes = decoder.width(decoder.operand(0), into);
  decoder.out.a_bytes = decoder.width(decoder.operand(1), from);
  if (d != Shape::kWhole && d != Shape::kHalf && d != Shape::kBrain &&
      decoder.out.d_bytes != into.bytes)
    decoder.refuse("a float needs a register of its size");
}

}  // namespace

void add_conversions(Opcodes& table) { table["cvt"] = cvt; }

}  // namespace sim
