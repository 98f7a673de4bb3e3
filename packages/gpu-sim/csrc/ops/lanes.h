#pragma once

#include <limits>
#include <type_traits>

#include "../code/decoder.h"
#include "../run/warp.h"

namespace sim {

using Opcodes = std::map<std::string_view, Decode>;

/** Actions that compute each lane separately with Op::run. */
template <class D, class A, class Op>
void map1(Warp& warp, const Instruction& i, uint32_t mask) {
  D* d = at<D>(warp, i.d);
  const A* a = at<A>(warp, i.a);
  each_lane(mask, [=](int lane) { d[lane] = Op::run(a[lane]); });
}

template <class D, class A, class B, class Op>
void map2(Warp& warp, const Instruction& i, uint32_t mask) {
  D* d = at<D>(warp, i.d);
  const A* a = at<A>(warp, i.a);
  const B* b = at<B>(warp, i.b);
  each_lane(mask, [=](int lane) { d[lane] = Op::run(a[lane], b[lane]); });
}

template <class D, class A, class B, class C, class Op>
void map3(Warp& warp, const Instruction& i, uint32_t mask) {
  D* d = at<D>(warp, i.d);
  const A* a = at<A>(warp, i.a);
  const B* b = at<B>(warp, i.b);
  const C* c = at<C>(warp, i.c);
  each_lane(mask, [=](int lane) { d[lane] = Op::run(a[lane], b[lane], c[lane]); });
}

/** Return the action for one of PTX's integer types; reject other types. */
template <template <class> class Make>
Action for_integer(Decoder& decoder, Type type) {
  const bool sign = type.kind == Kind::kSigned;
  if (type.is_integer() && type.lanes == 1) {
    switch (type.bytes) {
      case 2:
        return sign ? Make<int16_t>::action() : Make<uint16_t>::action();
      case 4:
        return sign ? Make<int32_t>::action() : Make<uint32_t>::action();
      case 8:
        return sign ? Make<int64_t>::action() : Make<uint64_t>::action();
      default:
        break;
    }
  }
  decoder.refuse("unsupported type");
}

template <template <class> class Op>
struct Unary {
  template <class T>
  struct Of {
    static Action action() { return map1<T, T, Op<T>>; }
  };
};
template <template <class> class Op>
struct Binary {
  template <class T>
  struct Of {
    static Action action() { return map2<T, T, T, Op<T>>; }
  };
};
template <template <class> class Op>
struct Ternary {
  template <class T>
  struct Of {
    static Action action() { return map3<T, T, T, T, Op<T>>; }
  };
};

/** Read the usual operands: d, a, b, c, all of one type. */
inline void operands1(Decoder& decoder, Type type) {
  decoder.want_operands(2, 2);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
}
inline void operands2(Decoder& decoder, Type type) {
  decoder.want_operands(3, 3);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, type);
}
inline void operands3(Decoder& decoder, Type type) {
  decoder.want_operands(4, 4);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, type);
  decoder.out.c = decoder.read(3, type);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "only the type changes");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

constexpr Type kU16{Kind::kUnsigned, 2}, kU32{Kind::kUnsigned, 4}, kU64{Kind::kUnsigned, 8};
constexpr Type kB32{Kind::kBits, 4}, kPred{Kind::kPredicate, 4};

}  // namespace sim
