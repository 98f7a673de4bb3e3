// Integer addition, division, minimum and maximum.

#include "table.h"

namespace sim {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
struct Add {
  static T run(T a, T b) {
    return static_cast<T>(
        static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b)));
  }
};
template <class T>
struct Subtract {
  static T run(T a, T b) {
    return static_cast<T>(
        static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b)));
  }
};
int32_t saturated(int64_t value) {
  return static_cast<int32_t>(value > INT32_MAX   ? INT32_MAX
                              : value < INT32_MIN ? INT32_MIN
                                                  : value);
}
struct AddSaturated {
  static int32_t run(int32_t a, int32_t b) { return saturated(int64_t{a} + b); }
};
struct SubtractSaturated {
  static int32_t run(int32_t a, int32_t b) { return saturated(int64_t{a} - b); }
};
// Division by 0 as on GPUs: the quotient has all bits set, the remainder is the dividend.
template <class T>
struct Divide {
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(~Unsigned<T>{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract<T>::run(0, a);
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Remainder {
  static T run(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Min {
  static T run(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max {
  static T run(T a, T b) { return a < b ? b : a; }
};
template <class T>
struct MinPositive {
  static T run(T a, T b) {
    const T m = a < b ? a : b;
    return std::is_signed_v<T> && m < 0 ? T{0} : m;
  }
};
template <class T>
struct MaxPositive {
  static T run(T a, T b) {
    const T m = a < b ? b : a;
    return std::is_signed_v<T> && m < 0 ? T{0} : m;
  }
};
template <class T>
struct Negate {
  static T run(T a) { return Subtract<T>::run(0, a); }
};
template <class T>
struct Absolute {
  static T run(T a) { return std::is_signed_v<T> && a < 0 ? Subtract<T>::run(0, a) : a; }
};

/** Two 16-bit values in a register of 32. */
template <class Op, class T>
struct Pair {
  static uint32_t run(uint32_t a, uint32_t b) {
    const auto low = static_cast<uint16_t>(Op::run(static_cast<T>(a), static_cast<T>(b)));
    const auto high =
        static_cast<uint16_t>(Op::run(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | uint32_t{high} << 16;
  }
};
template <template <class> class Op>
Action pair_action(Type type) {
  if (type.kind == Kind::kSigned)
    return map2<uint32_t, uint32_t, uint32_t, Pair<Op<int16_t>, int16_t>>;
  return map2<uint32_t, uint32_t, uint32_t, Pair<Op<uint16_t>, uint16_t>>;
}

template <class T, bool Sub, bool In, bool Out>
void with_carry(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const T* a = at<T>(warp, i.a);
  const T* b = at<T>(warp, i.b);
  const uint32_t before = In ? warp.carry : 0;
  uint32_t after = warp.carry;
  each_lane(mask, [&](int lane) {
    const T in = before >> lane & 1;
    T first, second;
    bool over = Sub ? __builtin_sub_overflow(a[lane], b[lane], &first)
                    : __builtin_add_overflow(a[lane], b[lane], &first);
    over |= Sub ? __builtin_sub_overflow(first, in, &second)
                : __builtin_add_overflow(first, in, &second);
    d[lane] = second;
    after = (after & ~(1u << lane)) | uint32_t{over} << lane;
  });
  if (Out) warp.carry = after;
}

template <bool Sub, bool In, bool Out>
Action carry_action(Type type) {
  return type.bytes == 8 ? with_carry<uint64_t, Sub, In, Out> : with_carry<uint32_t, Sub, In, Out>;
}

template <bool Sub>
void with_carry_in(Decoder& decoder) {
  const bool out = decoder.take("cc");
  const Type type = decoder.type();
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("unsupported type");
  operands2(decoder, type);
  decoder.out.action =
      out ? carry_action<Sub, true, true>(type) : carry_action<Sub, true, false>(type);
}

template <class T>
struct SumOfDifference {
  static T run(T a, T b, T c) {
    const auto difference =
        static_cast<Unsigned<T>>(a < b ? static_cast<Unsigned<T>>(b) - static_cast<Unsigned<T>>(a)
                                       : static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
    return Add<T>::run(c, static_cast<T>(difference));
  }
};

void sad(Decoder& decoder) {
  const Type type = decoder.type();
  operands3(decoder, type);
  decoder.out.action = for_integer<Ternary<SumOfDifference>::Of>(decoder, type);
}

}  // namespace

void integer_add(Decoder& decoder, Type type, bool subtract) {
  operands2(decoder, type);
  if (type.lanes == 2) {
    decoder.out.action = subtract ? pair_action<Subtract>(type) : pair_action<Add>(type);
  } else {
    decoder.out.action = subtract ? for_integer<Binary<Subtract>::Of>(decoder, type)
                                  : for_integer<Binary<Add>::Of>(decoder, type);
  }
}

void integer_add_saturated(Decoder& decoder, Type type, bool subtract) {
  if (type.kind != Kind::kSigned || type.bytes != 4) decoder.refuse("unsupported type");
  operands2(decoder, type);
  decoder.out.action = subtract ? map2<int32_t, int32_t, int32_t, SubtractSaturated>
                                : map2<int32_t, int32_t, int32_t, AddSaturated>;
}

void integer_add_carry(Decoder& decoder, bool subtract) {
  const Type type = decoder.type();
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("unsupported type");
  operands2(decoder, type);
  decoder.out.action =
      subtract ? carry_action<true, false, true>(type) : carry_action<false, false, true>(type);
}

void integer_division(Decoder& decoder, Type type, bool remainder) {
  operands2(decoder, type);
  decoder.out.action = remainder ? for_integer<Binary<Remainder>::Of>(decoder, type)
                                 : for_integer<Binary<Divide>::Of>(decoder, type);
}

void integer_minmax(Decoder& decoder, Type type, bool greater) {
  const bool positive = decoder.take("relu");
  operands2(decoder, type);
  if (type.lanes == 2) {
    if (positive) {
      decoder.out.action =
          greater ? pair_action<MaxPositive>(type) : pair_action<MinPositive>(type);
    } else {
      decoder.out.action = greater ? pair_action<Max>(type) : pair_action<Min>(type);
    }
  } else if (positive) {
    decoder.out.action = greater ? for_integer<Binary<MaxPositive>::Of>(decoder, type)
                                 : for_integer<Binary<MinPositive>::Of>(decoder, type);
  } else {
    decoder.out.action = greater ? for_integer<Binary<Max>::Of>(decoder, type)
                                 : for_integer<Binary<Min>::Of>(decoder, type);
  }
}

void integer_unary(Decoder& decoder, Type type, std::string_view opcode) {
  operands1(decoder, type);
  decoder.out.action = opcode == "neg" ? for_integer<Unary<Negate>::Of>(decoder, type)
                                       : for_integer<Unary<Absolute>::Of>(decoder, type);
}

void add_integer(Opcodes& table) {
  table["addc"] = with_carry_in<false>;
  table["subc"] = with_carry_in<true>;
  table["rem"] = [](Decoder& decoder) { integer_division(decoder, decoder.type(), true); };
  table["sad"] = sad;
}

}  // namespace sim
