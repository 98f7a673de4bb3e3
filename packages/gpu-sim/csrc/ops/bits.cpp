// Bitwise logic, shifts and byte permutation.

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
  if (decoder.type().bytes != 4) decoder.refuse("unsupported type");
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
  if (left < 0 || clamp < 0 || decoder.type().bytes != 4) decoder.refuse("unsupported form");
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
  if (decoder.type().bytes != 4) decoder.refuse("unsupported type");
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
}

}  // namespace sim
