// Integer multiplication (mul, mad): low and high parts, carries and wide forms.

#include "table.h"

namespace sim {
namespace {

enum Part : int { kHigh, kLow, kWide };

template <class T>
struct Next;
template <>
struct Next<uint16_t> {
  using Type = uint32_t;
};
template <>
struct Next<int16_t> {
  using Type = int32_t;
};
template <>
struct Next<uint32_t> {
  using Type = uint64_t;
};
template <>
struct Next<int32_t> {
  using Type = int64_t;
};
template <>
struct Next<uint64_t> {
  using Type = unsigned __int128;
};
template <>
struct Next<int64_t> {
  using Type = __int128;
};

template <class T>
struct MulLow {
  static T run(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
template <class T>
struct MulHigh {
  static T run(T a, T b) {
    using Wide = typename Next<T>::Type;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
  }
};
template <class T>
struct MadLow {
  static T run(T a, T b, T c) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) +
                          static_cast<uint64_t>(c));
  }
};
template <class T>
struct MadHigh {
  static T run(T a, T b, T c) {
    return static_cast<T>(static_cast<uint64_t>(MulHigh<T>::run(a, b)) + static_cast<uint64_t>(c));
  }
};
template <class T>
struct MulWide {
  using Wide = typename Next<T>::Type;
  static Wide run(T a, T b) { return static_cast<Wide>(a) * static_cast<Wide>(b); }
};
template <class T>
struct MadWide {
  using Wide = typename Next<T>::Type;
  static Wide run(T a, T b, Wide c) {
    return static_cast<Wide>(static_cast<uint64_t>(MulWide<T>::run(a, b)) +
                             static_cast<uint64_t>(c));
  }
};
struct MadHighSaturated {
  static int32_t run(int32_t a, int32_t b, int32_t c) {
    const int64_t sum = int64_t{MulHigh<int32_t>::run(a, b)} + c;
    return static_cast<int32_t>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  }
};

template <class T>
struct Wide2 {
  static Action action() { return map2<typename Next<T>::Type, T, T, MulWide<T>>; }
};
template <class T>
struct Wide3 {
  static Action action() {
    return map3<typename Next<T>::Type, T, T, typename Next<T>::Type, MadWide<T>>;
  }
};

template <template <class> class Make>
Action for_narrow(Decoder& decoder, Type type) {
  const bool sign = type.kind == Kind::kSigned;
  if (type.is_integer() && type.bytes == 2)
    return sign ? Make<int16_t>::action() : Make<uint16_t>::action();
  if (type.is_integer() && type.bytes == 4)
    return sign ? Make<int32_t>::action() : Make<uint32_t>::action();
  decoder.refuse("unsupported type");
}

template <class T, bool High, bool In, bool Out>
void mad_with_carry(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const T* a = at<T>(warp, i.a);
  const T* b = at<T>(warp, i.b);
  const T* c = at<T>(warp, i.c);
  each_lane(mask, [&](int lane) {
    using Plain = std::make_unsigned_t<T>;
    const T product = High ? MulHigh<T>::run(a[lane], b[lane]) : MulLow<T>::run(a[lane], b[lane]);
    const Plain in = In ? warp.carry >> lane & 1 : 0;
    Plain first, second;
    bool over =
        __builtin_add_overflow(static_cast<Plain>(product), static_cast<Plain>(c[lane]), &first);
    over |= __builtin_add_overflow(first, in, &second);
    d[lane] = static_cast<T>(second);
    if (Out) warp.carry = (warp.carry & ~(1u << lane)) | uint32_t{over} << lane;
  });
}

template <class T, bool High>
Action carry_action(bool in, bool out) {
  if (in) return out ? mad_with_carry<T, High, true, true> : mad_with_carry<T, High, true, false>;
  return mad_with_carry<T, High, false, true>;
}

void mad_carry(Decoder& decoder, int part, bool in, bool out) {
  const Type type = decoder.type();
  if (part == kWide || !type.is_integer() || type.bytes < 4) decoder.refuse("unsupported form");
  operands3(decoder, type);
  const bool high = part == kHigh;
  const bool sign = type.kind == Kind::kSigned;
  if (type.bytes == 8) {
    if (sign)
      decoder.out.action =
          high ? carry_action<int64_t, true>(in, out) : carry_action<int64_t, false>(in, out);
    else
      decoder.out.action =
          high ? carry_action<uint64_t, true>(in, out) : carry_action<uint64_t, false>(in, out);
  } else {
    if (sign)
      decoder.out.action =
          high ? carry_action<int32_t, true>(in, out) : carry_action<int32_t, false>(in, out);
    else
      decoder.out.action =
          high ? carry_action<uint32_t, true>(in, out) : carry_action<uint32_t, false>(in, out);
  }
}

void madc(Decoder& decoder) {
  const int part = decoder.take_one_of({"hi", "lo", "wide"});
  if (part < 0) decoder.refuse("it needs .hi or .lo");
  const bool out = decoder.take("cc");
  mad_carry(decoder, part, true, out);
}

int32_t low24(int32_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8;
}
uint32_t low24(uint32_t value) { return value & 0xffffff; }

template <class T, bool High>
struct Mul24 {
  static T run(T a, T b) {
    const auto product = static_cast<typename Next<T>::Type>(low24(a)) * low24(b);
    return static_cast<T>(High ? product >> 16 : product);
  }
};
template <class T, bool High>
struct Mad24 {
  static T run(T a, T b, T c) {
    return static_cast<T>(static_cast<uint32_t>(Mul24<T, High>::run(a, b)) +
                          static_cast<uint32_t>(c));
  }
};

void mul24(Decoder& decoder) {
  const int part = decoder.take_one_of({"hi", "lo"});
  const Type type = decoder.type();
  if (part < 0 || !type.is_integer() || type.bytes != 4) decoder.refuse("unsupported form");
  operands2(decoder, type);
  if (type.kind == Kind::kSigned)
    decoder.out.action = part == kHigh ? map2<int32_t, int32_t, int32_t, Mul24<int32_t, true>>
                                       : map2<int32_t, int32_t, int32_t, Mul24<int32_t, false>>;
  else
    decoder.out.action = part == kHigh ? map2<uint32_t, uint32_t, uint32_t, Mul24<uint32_t, true>>
                                       : map2<uint32_t, uint32_t, uint32_t, Mul24<uint32_t, false>>;
}

void mad24(Decoder& decoder) {
  const int part = decoder.take_one_of({"hi", "lo"});
  const Type type = decoder.type();
  if (part < 0 || !type.is_integer() || type.bytes != 4) decoder.refuse("unsupported form");
  operands3(decoder, type);
  using I = int32_t;
  using U = uint32_t;
  if (type.kind == Kind::kSigned)
    decoder.out.action =
        part == kHigh ? map3<I, I, I, I, Mad24<I, true>> : map3<I, I, I, I, Mad24<I, false>>;
  else
    decoder.out.action =
        part == kHigh ? map3<U, U, U, U, Mad24<U, true>> : map3<U, U, U, U, Mad24<U, false>>;
}

}  // namespace

bool integer_mul(Decoder& decoder) {
  const int part = decoder.take_one_of({"hi", "lo", "wide"});
  if (part < 0) return false;
  const Type type = decoder.type();
  if (part == kWide) {
    const Type wide{type.kind, static_cast<uint8_t>(2 * type.bytes)};
    decoder.want_operands(3, 3);
    decoder.out.d = decoder.write(0, wide);
    decoder.out.a = decoder.read(1, type);
    decoder.out.b = decoder.read(2, type);
    decoder.out.action = for_narrow<Wide2>(decoder, type);
    return true;
  }
  operands2(decoder, type);
  decoder.out.action = part == kHigh ? for_integer<Binary<MulHigh>::Of>(decoder, type)
                                     : for_integer<Binary<MulLow>::Of>(decoder, type);
  return true;
}

bool integer_mad(Decoder& decoder) {
  const int part = decoder.take_one_of({"hi", "lo", "wide"});
  if (part < 0) return false;
  if (decoder.take("cc")) {
    mad_carry(decoder, part, false, true);
    return true;
  }
  if (decoder.take("sat")) {
    const Type type = decoder.type();
    if (part != kHigh || type.kind != Kind::kSigned || type.bytes != 4)
      decoder.refuse("unsupported form");
    operands3(decoder, type);
    decoder.out.action = map3<int32_t, int32_t, int32_t, int32_t, MadHighSaturated>;
    return true;
  }
  const Type type = decoder.type();
  if (part == kWide) {
    const Type wide{type.kind, static_cast<uint8_t>(2 * type.bytes)};
    decoder.want_operands(4, 4);
    decoder.out.d = decoder.write(0, wide);
    decoder.out.a = decoder.read(1, type);
    decoder.out.b = decoder.read(2, type);
    decoder.out.c = decoder.read(3, wide);
    decoder.out.action = for_narrow<Wide3>(decoder, type);
    return true;
  }
  operands3(decoder, type);
  decoder.out.action = part == kHigh ? for_integer<Ternary<MadHigh>::Of>(decoder, type)
                                     : for_integer<Ternary<MadLow>::Of>(decoder, type);
  return true;
}

void add_products(Opcodes& table) {
  table["madc"] = madc;
  table["mul24"] = mul24;
  table["mad24"] = mad24;
}

}  // namespace sim
