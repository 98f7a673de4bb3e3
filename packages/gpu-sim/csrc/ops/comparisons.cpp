// Comparisons: setp and set.

#include <functional>

#include "half.h"
#include "rounding.h"
#include "table.h"

namespace sim {
namespace {

enum Comparison : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};
constexpr uint8_t kComparisons = kNan + 1;

template <class T, uint8_t kWhich>
bool compare(T a, T b) {
  const bool unordered = a != a || b != b;
  switch (kWhich) {
    case kEq:
      return a == b;
    case kNe:
      return !unordered && a != b;
    case kLt:
      return a < b;
    case kLe:
      return a <= b;
    case kGt:
      return a > b;
    case kGe:
      return a >= b;
    case kEqu:
      return unordered || a == b;
    case kNeu:
      return a != b;
    case kLtu:
      return unordered || a < b;
    case kLeu:
      return unordered || a <= b;
    case kGtu:
      return unordered || a > b;
    case kGeu:
      return unordered || a >= b;
    case kNum:
      return !unordered;
    default:
      return unordered;
  }
}

using Bits32 = uint32_t (*)(const Warp&, const Instruction&, uint32_t mask);

template <class T, uint8_t kWhich, bool kFlush>
uint32_t compare_all(const Warp& warp, const Instruction& i, uint32_t mask) {
  const T* a = at<T>(warp, i.a);
  const T* b = at<T>(warp, i.b);
  uint32_t bits = 0;
  each_lane(mask, [&](int lane) {
    T x = a[lane], y = b[lane];
    if constexpr (kFlush) {
      x = flushed(x);
      y = flushed(y);
    }
    bits |= uint32_t{compare<T, kWhich>(x, y)} << lane;
  });
  return bits;
}

/** Compare half-precision values exactly, as double. */
template <class Format, uint8_t kWhich>
uint32_t compare_halves(const Warp& warp, const Instruction& i, uint32_t mask) {
  const uint16_t* a = at<uint16_t>(warp, i.a);
  const uint16_t* b = at<uint16_t>(warp, i.b);
  uint32_t bits = 0;
  each_lane(mask, [&](int lane) {
    bits |= uint32_t{compare<double, kWhich>(Format::widen(a[lane]), Format::widen(b[lane]))}
            << lane;
  });
  return bits;
}

enum Combination : uint8_t { kPlain, kAnd, kOr, kXor };

void combine(Warp& warp, const Instruction& i, uint32_t mask, uint32_t bits) {
  uint32_t other = 0;
  if ((i.choice & 3) != kPlain) {
    other = *at<uint32_t>(warp, i.c);
    if (i.sign) other = ~other;
  }
  const auto with = [&](uint32_t value) {
    switch (i.choice & 3) {
      case kAnd:
        return value & other;
      case kOr:
        return value | other;
      case kXor:
        return value ^ other;
      default:
        return value;
    }
  };
  uint32_t* d = at<uint32_t>(warp, i.d);
  *d = (*d & ~mask) | (with(bits) & mask);
  if (i.e != kNoPlace) {
    uint32_t* e = at<uint32_t>(warp, i.e);
    *e = (*e & ~mask) | (with(~bits) & mask);
  }
}

template <Bits32 kCompare>
void run_setp(Warp& warp, const Instruction& i, uint32_t mask) {
  combine(warp, i, mask, kCompare(warp, i, mask));
}

/** set: a 32-bit result of all ones or zero, or of 1.0 or 0.0. */
template <Bits32 kCompare>
void run_set(Warp& warp, const Instruction& i, uint32_t mask) {
  uint32_t bits = kCompare(warp, i, mask);
  if ((i.choice & 3) != kPlain) {
    uint32_t other = *at<uint32_t>(warp, i.c);
    if (i.sign) other = ~other;
    const uint32_t kind = i.choice & 3;
    bits = kind == kAnd ? bits & other : kind == kOr ? bits | other : bits ^ other;
  }
  const auto yes = static_cast<uint32_t>(i.plus);
  if (i.bytes == 2) {
    uint16_t* d = at<uint16_t>(warp, i.d);
    each_lane(mask, [=](int lane) {
      d[lane] = (bits >> lane & 1) != 0 ? static_cast<uint16_t>(yes) : 0;
    });
    return;
  }
  uint32_t* d = at<uint32_t>(warp, i.d);
  each_lane(mask, [=](int lane) { d[lane] = (bits >> lane & 1) != 0 ? yes : 0; });
}

struct Pair {
  Action setp, set;
};
template <Bits32 kCompare>
constexpr Pair pair() {
  return {run_setp<kCompare>, run_set<kCompare>};
}

template <class T, bool F, uint8_t... kWhich>
Pair chosen(uint8_t which, std::integer_sequence<uint8_t, kWhich...>) {
  static constexpr Pair kAll[] = {pair<compare_all<T, kWhich, F>>()...};
  return kAll[which];
}
template <class Format, uint8_t... kWhich>
Pair chosen_half(uint8_t which, std::integer_sequence<uint8_t, kWhich...>) {
  static constexpr Pair kAll[] = {pair<compare_halves<Format, kWhich>>()...};
  return kAll[which];
}
using Integers = std::make_integer_sequence<uint8_t, kGe + 1>;
using Floats = std::make_integer_sequence<uint8_t, kComparisons>;

Pair comparison(Decoder& decoder, Type type, int which, bool flush) {
  const auto w = static_cast<uint8_t>(which);
  if (type.kind == Kind::kBrain && type.lanes == 1) return chosen_half<Brain>(w, Floats());
  if (type.kind == Kind::kFloat && type.lanes == 1) {
    if (type.bytes == 2) return chosen_half<Half>(w, Floats());
    if (type.bytes == 8) return chosen<double, false>(w, Floats());
    return flush ? chosen<float, true>(w, Floats()) : chosen<float, false>(w, Floats());
  }
  if (type.is_integer() && type.lanes == 1 && which <= kGe) {
    const bool sign = type.kind == Kind::kSigned;
    switch (type.bytes) {
      case 2:
        return sign ? chosen<int16_t, false>(w, Integers())
                    : chosen<uint16_t, false>(w, Integers());
      case 4:
        return sign ? chosen<int32_t, false>(w, Integers())
                    : chosen<uint32_t, false>(w, Integers());
      case 8:
        return sign ? chosen<int64_t, false>(w, Integers())
                    : chosen<uint64_t, false>(w, Integers());
      default:
        break;
    }
  }
  decoder.refuse("unsupported type");
}

/** Decode `lt`, optionally followed by `and`. `lo`, `ls`, `hi`, `hs` are unsigned comparisons. */
int take_comparison(Decoder& decoder) {
  const int which = decoder.take_one_of(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (which >= 0) return which;
  const int plain = decoder.take_one_of({"lo", "ls", "hi", "hs"});
  if (plain < 0) decoder.refuse("unknown comparison");
  return kLt + plain;
}

void read_compared(Decoder& decoder, size_t first, Type type) {
  const bool half = type.bytes == 2 && !type.is_integer();
  const Type read{half ? Kind::kBits : type.kind, type.bytes};
  decoder.out.a = decoder.read(first, read);
  decoder.out.b = decoder.read(first + 1, read);
}

void read_combined(Decoder& decoder, size_t index, int combination) {
  if (combination < 0) return;
  decoder.out.choice = static_cast<uint8_t>(combination + 1);
  decoder.out.sign = decoder.operand(index).negated;
  decoder.out.c = decoder.predicate(decoder.operand(index));
}

void setp(Decoder& decoder) {
  const int which = take_comparison(decoder);
  const int combination = decoder.take_one_of({"and", "or", "xor"});
  const bool flush = decoder.take("ftz");
  const Type type = decoder.type();
  const size_t count = combination < 0 ? 3 : 4;
  decoder.want_operands(count, count);
  const Operand& into = decoder.operand(0);
  if (into.form == Operand::Form::kPair) {
    decoder.out.d = decoder.predicate(into.parts[0]);
    decoder.out.e = decoder.predicate(into.parts[1]);
  } else {
    decoder.out.d = decoder.predicate(into);
  }
  if (type.lanes == 2) decoder.refuse("unsupported type");
  read_compared(decoder, 1, type);
  read_combined(decoder, 3, combination);
  decoder.out.action = comparison(decoder, type, which, flush).setp;
}

void set(Decoder& decoder) {
  const int which = take_comparison(decoder);
  const int combination = decoder.take_one_of({"and", "or", "xor"});
  const bool flush = decoder.take("ftz");
  const Type into = decoder.type();
  const Type type = decoder.type();
  const size_t count = combination < 0 ? 3 : 4;
  decoder.want_operands(count, count);
  decoder.out.bytes = into.bytes;
  decoder.out.d = decoder.write(0, Type{Kind::kBits, into.bytes});
  read_compared(decoder, 1, type);
  read_combined(decoder, 3, combination);
  if (into.is_integer() && into.lanes == 1 && (into.bytes == 4 || into.bytes == 2)) {
    decoder.out.plus = 0xffffffff;
  } else if (into.kind == Kind::kFloat && into.bytes == 4 && into.lanes == 1) {
    decoder.out.plus = 0x3f800000;
  } else if (into.bytes == 2) {
    decoder.out.plus = into.kind == Kind::kBrain ? 0x3f80 : 0x3c00;
  } else {
    decoder.refuse("unsupported type");
  }
  decoder.out.action = comparison(decoder, type, which, flush).set;
}

}  // namespace

void add_comparisons(Opcodes& table) {
  table["setp"] = setp;
  table["set"] = set;
}

}  // namespace sim
