// Atomic operations: atom and red.

#include "half.h"
#include "memory_operand.h"
#include "rounding.h"
#include "table.h"

namespace sim {
namespace {

enum Operation : uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };

template <class T, uint8_t kWhich>
struct Whole {
  static T run(T old, T b, T c) {
    using U = std::make_unsigned_t<T>;
    switch (kWhich) {
      case kAdd:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
      case kMin:
        return old < b ? old : b;
      case kMax:
        return old < b ? b : old;
      case kInc:
        return old >= b ? T{0} : static_cast<T>(old + 1);
      case kDec:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
      case kAnd:
        return static_cast<T>(old & b);
      case kOr:
        return static_cast<T>(old | b);
      case kXor:
        return static_cast<T>(old ^ b);
      case kExch:
        return b;
      default:
        return old == b ? c : old;
    }
  }
};

template <class T>
struct Float {
  using U = Bits<T>;
  static U run(U old, U b, U) {
    return bits_as<U>(out<false, false>(bits_as<T>(old) + bits_as<T>(b)));
  }
};

template <class Format, int kHalves, uint8_t kWhich>
struct Small {
  static uint32_t run(uint32_t old, uint32_t b, uint32_t) {
    uint32_t result = 0;
    for (int half = 0; half < kHalves; ++half) {
      const double x = Format::widen(old >> 16 * half & 0xffff);
      const double y = Format::widen(b >> 16 * half & 0xffff);
      double value = x + y;
      if (kWhich == kMin) value = std::fmin(x, y);
      if (kWhich == kMax) value = std::fmax(x, y);
      result |= Format::narrow(value) << 16 * half;
    }
    return result;
  }
};

/** Write the previous value to d, if the instruction has a destination. */
template <class T, class Op>
void update(Warp& warp, const Instruction& i, uint32_t mask) {
  if (i.releases) fence(warp, mask, i.own_block);
  T* d = i.d == kNoPlace ? nullptr : at<T>(warp, i.d);
  const T* b = at<T>(warp, i.b);
  const T* c = i.c == kNoPlace ? b : at<T>(warp, i.c);
  each_lane(mask, [&](int lane) {
    uint8_t* place = reach(warp, i, static_cast<uint32_t>(lane), i.space, address_of(warp, i, lane),
                           sizeof(T), Purpose::kReadWrite);
    T old = 0;
    if (place != nullptr) {
      __builtin_memcpy(&old, place, sizeof old);
      const T fresh = static_cast<T>(Op::run(old, b[lane], c[lane]));
      __builtin_memcpy(place, &fresh, sizeof fresh);
    }
    if (d != nullptr) d[lane] = old;
  });
}

template <class T, uint8_t... kWhich>
Action whole_action(uint8_t which, std::integer_sequence<uint8_t, kWhich...>) {
  static constexpr Action kAll[] = {update<T, Whole<T, kWhich>>...};
  return kAll[which];
}
using Operations = std::make_integer_sequence<uint8_t, kCas + 1>;

template <class Format>
Action small_action(Decoder& decoder, bool two, int which) {
  if (which == kAdd)
    return two ? update<uint32_t, Small<Format, 2, kAdd>>
               : update<uint16_t, Small<Format, 1, kAdd>>;
  if (which == kMin)
    return two ? update<uint32_t, Small<Format, 2, kMin>>
               : update<uint16_t, Small<Format, 1, kMin>>;
  if (which == kMax)
    return two ? update<uint32_t, Small<Format, 2, kMax>>
               : update<uint16_t, Small<Format, 1, kMax>>;
  decoder.refuse("unsupported type");
}

Action action_of(Decoder& decoder, Type type, int which) {
  const auto w = static_cast<uint8_t>(which);
  if (type.kind == Kind::kBrain) return small_action<Brain>(decoder, type.lanes == 2, which);
  if (type.kind == Kind::kFloat && (type.bytes == 2 || type.lanes == 2))
    return small_action<Half>(decoder, type.lanes == 2, which);
  if (type.kind == Kind::kFloat) {
    if (which != kAdd) decoder.refuse("unsupported type");
    return type.bytes == 8 ? update<uint64_t, Float<double>> : update<uint32_t, Float<float>>;
  }
  const bool sign = type.kind == Kind::kSigned;
  switch (type.bytes) {
    case 2:
      if (which != kCas && which != kExch) decoder.refuse("unsupported type");
      return whole_action<uint16_t>(w, Operations());
    case 4:
      return sign ? whole_action<int32_t>(w, Operations())
                  : whole_action<uint32_t>(w, Operations());
    case 8:
      return sign ? whole_action<int64_t>(w, Operations())
                  : whole_action<uint64_t>(w, Operations());
    default:
      decoder.refuse("unsupported type");
  }
}

void atomic(Decoder& decoder, bool result) {
  decoder.out.strong = true;
  // Modifiers have any order: both `atom.add.release.gpu.u32` and `atom.global.gpu.acq_rel.add.f32`
  // occur.
  int which = -1;
  while (true) {
    if (which < 0) {
      which = decoder.take_one_of(
          {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
      if (which >= 0) continue;
    }
    if (!take_order(decoder) && !take_scope(decoder) && !maybe_space(decoder) &&
        !decoder.take("noftz"))
      break;
  }
  if (decoder.take("L2::cache_hint")) decoder.refuse("'.L2::cache_hint' is not supported");
  if (which < 0) decoder.refuse("unknown atomic operation");
  const Type type = decoder.type();
  const Type bits{Kind::kBits, type.bytes};
  Instruction& out = decoder.out;
  out.bytes = type.bytes;
  size_t next = 0;
  const size_t count = (result ? 1 : 0) + 2 + (which == kCas ? 1 : 0);
  decoder.want_operands(count, count);
  if (result) out.d = decoder.write(next++, bits);
  decoder.address(decoder.operand(next++));
  // A float literal keeps its type; registers are untyped.
  const Type value = type.lanes == 1 && type.kind == Kind::kFloat && type.bytes >= 4 ? type : bits;
  out.b = decoder.read(next++, value);
  if (which == kCas) out.c = decoder.read(next, value);
  out.action = action_of(decoder, type, which);
}

}  // namespace

void add_atomics(Opcodes& table) {
  table["atom"] = [](Decoder& decoder) { atomic(decoder, true); };
  table["red"] = [](Decoder& decoder) {
    if (decoder.take("async")) decoder.refuse("'.async' is not supported");
    atomic(decoder, false);
  };
}

}  // namespace sim
