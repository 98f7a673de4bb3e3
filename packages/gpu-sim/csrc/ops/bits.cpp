// Logic, shifts, and whatever looks at single bits and bytes.

#include "table.h"

namespace sim {
namespace {

template <class T>
struct And {
  static T run(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct Or {
  static T run(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct Xor {
  static T run(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct Not {
  static T run(T a) { return static_cast<T>(~a); }
};
template <class T>
struct LogicalNot {
  static T run(T a) { return a == 0 ? 1 : 0; }
};
template <class T>
struct ShiftLeft {
  static T run(T a, uint32_t b) {
    return b >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
  }
};
template <class T>
struct ShiftRight {
  static T run(T a, uint32_t b) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (b >= kBits) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> b);
  }
};

template <class Op>
void predicates2(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t value = Op::run(*at<uint32_t>(warp, i.a), *at<uint32_t>(warp, i.b));
  uint32_t* d = at<uint32_t>(warp, i.d);
  *d = (*d & ~mask) | (value & mask);
}
void predicates_not(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t value = ~*at<uint32_t>(warp, i.a);
  uint32_t* d = at<uint32_t>(warp, i.d);
  *d = (*d & ~mask) | (value & mask);
}

template <template <class> class Op>
void logic(Decoder& decoder) {
  const Type type = decoder.type();
  operands2(decoder, type);
  decoder.out.action = type.kind == Kind::kPredicate
                           ? predicates2<Op<uint32_t>>
                           : for_integer<Binary<Op>::template Of>(decoder, type);
}

template <template <class> class Op>
struct Shift {
  template <class T>
  struct Of {
    static Action action() { return map2<T, T, uint32_t, Op<T>>; }
  };
};

template <template <class> class Op>
void shift(Decoder& decoder) {
  const Type type = decoder.type();
  decoder.want_operands(3, 3);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, kU32);
  decoder.out.action = for_integer<Shift<Op>::template Of>(decoder, type);
}

struct Lop3 {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; ++i)
      if ((table >> i & 1) != 0) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
  }
};
void run_lop3(Warp& warp, const Instruction& i, uint32_t mask) {
  uint32_t* d = at<uint32_t>(warp, i.d);
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b),
                 *c = at<uint32_t>(warp, i.c);
  const auto table = static_cast<uint32_t>(i.plus);
  each_lane(mask, [=](int lane) { d[lane] = Lop3::run(a[lane], b[lane], c[lane], table); });
}

void lop3(Decoder& decoder) {
  if (decoder.type().bytes != 4) decoder.refuse("it has no such type");
  decoder.want_operands(5, 5);
  for (size_t i = 0; i < 4; ++i) {
    uint32_t& place = i == 0   ? decoder.out.d
                      : i == 1 ? decoder.out.a
                      : i == 2 ? decoder.out.b
                               : decoder.out.c;
    place = i == 0 ? decoder.write(i, kB32) : decoder.read(i, kB32);
  }
  decoder.out.plus = static_cast<int64_t>(decoder.literal(4) & 255);
  decoder.out.action = run_lop3;
}

template <bool Left, bool Clamp>
struct Funnel {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t by = Clamp ? (c > 32 ? 32 : c) : c & 31;
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>(Left ? both << by >> 32 : both >> by);
  }
};
void shf(Decoder& decoder) {
  const int left = decoder.take_one_of({"r", "l"});
  const int clamp = decoder.take_one_of({"wrap", "clamp"});
  if (left < 0 || clamp < 0 || decoder.type().bytes != 4) decoder.refuse("it has no such form");
  operands3(decoder, kB32);
  using U = uint32_t;
  decoder.out.action = left == 1 ? (clamp == 1 ? map3<U, U, U, U, Funnel<true, true>>
                                               : map3<U, U, U, U, Funnel<true, false>>)
                                 : (clamp == 1 ? map3<U, U, U, U, Funnel<false, true>>
                                               : map3<U, U, U, U, Funnel<false, false>>);
}

struct Permute {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t choice = c >> 4 * i & 15;
      auto byte = static_cast<uint8_t>(bytes >> 8 * (choice & 7));
      if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= uint32_t{byte} << 8 * i;
    }
    return result;
  }
};
template <int Mode>
struct PermuteMode {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    static constexpr uint16_t kTable[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return Permute::run(a, b, kTable[Mode][c & 3]);
  }
};
void prmt(Decoder& decoder) {
  if (decoder.type().bytes != 4) decoder.refuse("it has no such type");
  using U = uint32_t;
  static constexpr Action kActions[] = {
      map3<U, U, U, U, Permute>,        map3<U, U, U, U, PermuteMode<0>>,
      map3<U, U, U, U, PermuteMode<1>>, map3<U, U, U, U, PermuteMode<2>>,
      map3<U, U, U, U, PermuteMode<3>>, map3<U, U, U, U, PermuteMode<4>>,
      map3<U, U, U, U, PermuteMode<5>>};
  decoder.out.action =
      kActions[1 + decoder.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})];
  operands3(decoder, kB32);
}

template <class T>
struct CountBits {
  static uint32_t run(T a) { return static_cast<uint32_t>(__builtin_popcountll(a)); }
};
template <class T>
struct LeadingZeros {
  static uint32_t run(T a) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    return a == 0 ? kBits : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - kBits);
  }
};
template <class T>
struct FindBit {
  static uint32_t run(T a) {
    using U = std::make_unsigned_t<T>;
    const auto bits = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
    return bits == 0 ? ~0u : 8 * sizeof(T) - 1 - LeadingZeros<U>::run(bits);
  }
};
template <class T>
struct FindShift {
  static uint32_t run(T a) {
    const uint32_t found = FindBit<T>::run(a);
    return found == ~0u ? found : 8 * sizeof(T) - 1 - found;
  }
};
template <class T>
struct Reverse {
  static T run(T a) {
    T result = 0;
    for (uint32_t i = 0; i < 8 * sizeof(T); ++i) result |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};

template <template <class> class Op>
void counting(Decoder& decoder) {
  const Type type = decoder.type();
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("it has no such type");
  decoder.want_operands(2, 2);
  decoder.out.d = decoder.write(0, kU32);
  decoder.out.a = decoder.read(1, type);
  decoder.out.action = type.bytes == 8 ? map1<uint32_t, uint64_t, Op<uint64_t>>
                                       : map1<uint32_t, uint32_t, Op<uint32_t>>;
}

template <template <class> class Op>
Action find_action(Type type) {
  if (type.kind == Kind::kSigned)
    return type.bytes == 8 ? map1<uint32_t, int64_t, Op<int64_t>>
                           : map1<uint32_t, int32_t, Op<int32_t>>;
  return type.bytes == 8 ? map1<uint32_t, uint64_t, Op<uint64_t>>
                         : map1<uint32_t, uint32_t, Op<uint32_t>>;
}
void bfind(Decoder& decoder) {
  const bool shift_amount = decoder.take("shiftamt");
  const Type type = decoder.type();
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("it has no such type");
  decoder.want_operands(2, 2);
  decoder.out.d = decoder.write(0, kU32);
  decoder.out.a = decoder.read(1, type);
  decoder.out.action = shift_amount ? find_action<FindShift>(type) : find_action<FindBit>(type);
}

template <class T>
struct Extract {
  static T run(T a, uint32_t b, uint32_t c) {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t from = b & 255, length = c & 255;
    if (length == 0) return 0;
    const bool sign = std::is_signed_v<T> &&
                      (static_cast<U>(a) >> std::min(from + length - 1, kBits - 1) & 1) != 0;
    U result = from >= kBits ? U{0} : static_cast<U>(static_cast<U>(a) >> from);
    // Above what there is, or what is wanted, stands the sign.
    const uint32_t kept = from >= kBits ? 0 : std::min(length, kBits - from);
    const U field = kept >= kBits ? ~U{0} : static_cast<U>((U{1} << kept) - 1);
    result &= field;
    return static_cast<T>(sign ? static_cast<U>(result | ~field) : result);
  }
};
template <class T>
struct ExtractOf {
  static Action action() { return map3<T, T, uint32_t, uint32_t, Extract<T>>; }
};
void bfe(Decoder& decoder) {
  const Type type = decoder.type();
  decoder.want_operands(4, 4);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, kU32);
  decoder.out.c = decoder.read(3, kU32);
  decoder.out.action = for_integer<ExtractOf>(decoder, type);
}

template <class T>
void run_bfi(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const T *a = at<T>(warp, i.a), *b = at<T>(warp, i.b);
  const uint32_t *c = at<uint32_t>(warp, i.c), *e = at<uint32_t>(warp, i.e);
  constexpr uint32_t kBits = 8 * sizeof(T);
  each_lane(mask, [=](int lane) {
    const uint32_t from = c[lane] & 255, length = e[lane] & 255;
    const T ones = length >= kBits ? ~T{0} : static_cast<T>((T{1} << length) - 1);
    const T field = from >= kBits ? T{0} : static_cast<T>(ones << from);
    const T value = from >= kBits ? T{0} : static_cast<T>(a[lane] << from);
    d[lane] = (b[lane] & ~field) | (value & field);
  });
}
void bfi(Decoder& decoder) {
  const Type type = decoder.type();
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("it has no such type");
  decoder.want_operands(5, 5);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, type);
  decoder.out.c = decoder.read(3, kU32);
  decoder.out.e = decoder.read(4, kU32);
  decoder.out.action = type.bytes == 8 ? run_bfi<uint64_t> : run_bfi<uint32_t>;
}

template <bool Clamp>
struct Mask {
  static uint32_t run(uint32_t from, uint32_t width) {
    if (!Clamp) {
      from &= 31;
      width &= 31;
    }
    const uint64_t ones = width >= 32 ? 0xffffffffu : (uint64_t{1} << width) - 1;
    return from >= 32 ? 0 : static_cast<uint32_t>(ones << from);
  }
};
void bmsk(Decoder& decoder) {
  const int clamp = decoder.take_one_of({"wrap", "clamp"});
  if (clamp < 0 || decoder.type().bytes != 4) decoder.refuse("it has no such form");
  operands2(decoder, kB32);
  decoder.out.action = clamp == 1 ? map2<uint32_t, uint32_t, uint32_t, Mask<true>>
                                  : map2<uint32_t, uint32_t, uint32_t, Mask<false>>;
}

template <bool Sign, bool Clamp>
struct Extend {
  static uint32_t run(uint32_t a, uint32_t width) {
    if (!Clamp) width &= 31;
    if (width >= 32) return a;
    const uint32_t field = (uint32_t{1} << width) - 1;
    const bool negative = Sign && width != 0 && (a >> (width - 1) & 1) != 0;
    return negative ? a | ~field : a & field;
  }
};
void szext(Decoder& decoder) {
  const int clamp = decoder.take_one_of({"wrap", "clamp"});
  const Type type = decoder.type();
  if (clamp < 0 || type.bytes != 4) decoder.refuse("it has no such form");
  operands2(decoder, type);
  using U = uint32_t;
  const bool sign = type.kind == Kind::kSigned;
  decoder.out.action =
      sign
          ? (clamp == 1 ? map2<U, U, U, Extend<true, true>> : map2<U, U, U, Extend<true, false>>)
          : (clamp == 1 ? map2<U, U, U, Extend<false, true>> : map2<U, U, U, Extend<false, false>>);
}

template <bool SignA, bool SignB, int Halves>
struct Dot {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    // Halves 0: four bytes with four; 1 and 2: two halves of a with two bytes of b.
    const auto part = [](uint32_t word, uint32_t i, uint32_t bits, bool sign) {
      const uint32_t value = word >> bits * i & ((1u << bits) - 1);
      const bool negative = sign && (value >> (bits - 1) & 1) != 0;
      return negative ? static_cast<int32_t>(value | ~((1u << bits) - 1))
                      : static_cast<int32_t>(value);
    };
    for (uint32_t i = 0; i < (Halves == 0 ? 4u : 2u); ++i) {
      const int32_t left = part(a, i, Halves == 0 ? 8 : 16, SignA);
      const int32_t right = part(b, Halves == 2 ? i + 2 : i, 8, SignB);
      c += static_cast<uint32_t>(left * right);
    }
    return c;
  }
};
template <int Halves>
void dot(Decoder& decoder) {
  const Type a = decoder.type();
  const Type b = decoder.type();
  if (a.bytes != 4 || b.bytes != 4) decoder.refuse("it has no such type");
  operands3(decoder, kB32);
  using U = uint32_t;
  const bool sa = a.kind == Kind::kSigned, sb = b.kind == Kind::kSigned;
  decoder.out.action = sa ? (sb ? map3<U, U, U, U, Dot<true, true, Halves>>
                                : map3<U, U, U, U, Dot<true, false, Halves>>)
                          : (sb ? map3<U, U, U, U, Dot<false, true, Halves>>
                                : map3<U, U, U, U, Dot<false, false, Halves>>);
}

}  // namespace

void add_bits(Opcodes& table) {
  table["and"] = logic<And>;
  table["or"] = logic<Or>;
  table["xor"] = logic<Xor>;
  table["not"] = [](Decoder& decoder) {
    const Type type = decoder.type();
    operands1(decoder, type);
    decoder.out.action =
        type.kind == Kind::kPredicate ? predicates_not : for_integer<Unary<Not>::Of>(decoder, type);
  };
  table["cnot"] = [](Decoder& decoder) {
    const Type type = decoder.type();
    operands1(decoder, type);
    decoder.out.action = for_integer<Unary<LogicalNot>::Of>(decoder, type);
  };
  table["shl"] = shift<ShiftLeft>;
  table["shr"] = shift<ShiftRight>;
  table["lop3"] = lop3;
  table["shf"] = shf;
  table["prmt"] = prmt;
  table["popc"] = counting<CountBits>;
  table["clz"] = counting<LeadingZeros>;
  table["bfind"] = bfind;
  table["brev"] = [](Decoder& decoder) {
    const Type type = decoder.type();
    if (!type.is_integer() || type.bytes < 4) decoder.refuse("it has no such type");
    operands1(decoder, type);
    decoder.out.action = type.bytes == 8 ? map1<uint64_t, uint64_t, Reverse<uint64_t>>
                                         : map1<uint32_t, uint32_t, Reverse<uint32_t>>;
  };
  table["bfe"] = bfe;
  table["bfi"] = bfi;
  table["bmsk"] = bmsk;
  table["szext"] = szext;
  table["dp4a"] = dot<0>;
  table["dp2a"] = [](Decoder& decoder) {
    const int high = decoder.take_one_of({"lo", "hi"});
    if (high < 0) decoder.refuse("it needs .lo or .hi");
    high == 1 ? dot<2>(decoder) : dot<1>(decoder);
  };
}

}  // namespace sim
