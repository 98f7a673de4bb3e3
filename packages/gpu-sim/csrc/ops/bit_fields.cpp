// Bit counts, searches, reversal and fields, and dot products of bytes.

#include <algorithm>

#include "table.h"

namespace sim {
namespace {

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
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("unsupported type");
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
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("unsupported type");
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
    // Bits above the value's width or the field's length are copies of the sign.
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
  if (!type.is_integer() || type.bytes < 4) decoder.refuse("unsupported type");
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
  if (clamp < 0 || decoder.type().bytes != 4) decoder.refuse("unsupported form");
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
  if (clamp < 0 || type.bytes != 4) decoder.refuse("unsupported form");
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
    // Mode 0: four bytes times four bytes; 1 and 2: two 16-bit parts of a times two bytes of b.
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
  if (a.bytes != 4 || b.bytes != 4) decoder.refuse("unsupported type");
  operands3(decoder, kB32);
  using U = uint32_t;
  const bool sa = a.kind == Kind::kSigned, sb = b.kind == Kind::kSigned;
  decoder.out.action = sa ? (sb ? map3<U, U, U, U, Dot<true, true, Halves>>
                                : map3<U, U, U, U, Dot<true, false, Halves>>)
                          : (sb ? map3<U, U, U, U, Dot<false, true, Halves>>
                                : map3<U, U, U, U, Dot<false, false, Halves>>);
}

}  // namespace

void add_bit_fields(Opcodes& table) {
  table["popc"] = counting<CountBits>;
  table["clz"] = counting<LeadingZeros>;
  table["bfind"] = bfind;
  table["brev"] = [](Decoder& decoder) {
    const Type type = decoder.type();
    if (!type.is_integer() || type.bytes < 4) decoder.refuse("unsupported type");
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
