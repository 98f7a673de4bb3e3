// Arithmetic of f32 and f64, and dispatch of the opcodes that other types share.

#include "rounding.h"
#include "table.h"

namespace sim {
namespace {

template <class T>
struct Add {
  static T run(T a, T b) { return a + b; }
};
template <class T>
struct Subtract {
  static T run(T a, T b) { return a - b; }
};
template <class T>
struct Multiply {
  static T run(T a, T b) { return a * b; }
};
template <class T>
struct Divide {
  static T run(T a, T b) { return a / b; }
};
template <class T>
struct Fused {
  static T run(T a, T b, T c) { return std::fma(a, b, c); }
};

template <class T, template <class> class Op, bool F, bool S>
struct Wrapped2 {
  static T run(T a, T b) { return out<F, S>(Op<T>::run(in<F>(a), in<F>(b))); }
};
template <class T, template <class> class Op, bool F, bool S>
struct Wrapped3 {
  static T run(T a, T b, T c) { return out<F, S>(Op<T>::run(in<F>(a), in<F>(b), in<F>(c))); }
};

template <Action kInner>
Action maybe_rounded(Rounding rounding) {
  return rounding == Rounding::kNearest ? kInner : rounded<kInner>;
}

template <template <class> class Op, bool F, bool S>
Action action2(Rounding r) {
  return maybe_rounded<map2<float, float, float, Wrapped2<float, Op, F, S>>>(r);
}
template <template <class> class Op, bool F, bool S>
Action action3(Rounding r) {
  return maybe_rounded<map3<float, float, float, float, Wrapped3<float, Op, F, S>>>(r);
}

void want_float(Decoder& decoder, Type type) {
  if (type.kind != Kind::kFloat || type.bytes < 4 || type.lanes != 1)
    decoder.refuse("unsupported type");
}

template <template <class> class Op>
void arithmetic2(Decoder& decoder, Type type, Rounding rounding, bool flush, bool saturate) {
  want_float(decoder, type);
  operands2(decoder, type);
  decoder.out.choice = static_cast<uint8_t>(rounding);
  if (type.bytes == 8) {
    if (flush || saturate) decoder.refuse("f64 has no .ftz and .sat");
    decoder.out.action = maybe_rounded<map2<double, double, double, Op<double>>>(rounding);
  } else if (flush) {
    decoder.out.action =
        saturate ? action2<Op, true, true>(rounding) : action2<Op, true, false>(rounding);
  } else {
    decoder.out.action =
        saturate ? action2<Op, false, true>(rounding) : action2<Op, false, false>(rounding);
  }
}

void fused(Decoder& decoder, Type type, Rounding rounding, bool flush, bool saturate) {
  want_float(decoder, type);
  operands3(decoder, type);
  decoder.out.choice = static_cast<uint8_t>(rounding);
  if (type.bytes == 8) {
    if (flush || saturate) decoder.refuse("f64 has no .ftz and .sat");
    decoder.out.action =
        maybe_rounded<map3<double, double, double, double, Fused<double>>>(rounding);
  } else if (flush) {
    decoder.out.action =
        saturate ? action3<Fused, true, true>(rounding) : action3<Fused, true, false>(rounding);
  } else {
    decoder.out.action =
        saturate ? action3<Fused, false, true>(rounding) : action3<Fused, false, false>(rounding);
  }
}

bool is_half(Type type) {
  return (type.kind == Kind::kFloat && (type.bytes == 2 || type.lanes == 2)) ||
         type.kind == Kind::kBrain;
}

/** Modifiers that may precede the type. */
struct Modifiers {
  Rounding rounding = Rounding::kNearest;
  bool rounds = false, flush = false, saturate = false;
};
Modifiers modifiers(Decoder& decoder) {
  Modifiers made;
  made.rounding = take_rounding(decoder, &made.rounds);
  made.flush = decoder.take("ftz");
  made.saturate = decoder.take("sat");
  return made;
}

void half_or_refuse(Decoder& decoder, std::string_view opcode, Type type, const Modifiers& m) {
  if (m.rounding != Rounding::kNearest) decoder.refuse("half precision is rounded to nearest only");
  decoder.out.acquires = m.flush;
  decoder.out.releases = m.saturate;
  half_arithmetic(decoder, opcode, type);
}

void add_or_subtract(Decoder& decoder, bool subtract) {
  if (decoder.take("cc")) return integer_add_carry(decoder, subtract);
  const Modifiers m = modifiers(decoder);
  if (m.saturate && !m.flush && !m.rounds) {
    // `.sat.s32` for integers, `.sat.f32` for floats.
    const Type type = decoder.type();
    if (type.is_integer()) return integer_add_saturated(decoder, type, subtract);
    if (is_half(type)) return half_or_refuse(decoder, subtract ? "sub" : "add", type, m);
    return subtract ? arithmetic2<Subtract>(decoder, type, m.rounding, false, true)
                    : arithmetic2<Add>(decoder, type, m.rounding, false, true);
  }
  const Type type = decoder.type();
  if (type.is_integer() && !m.rounds && !m.flush) return integer_add(decoder, type, subtract);
  if (is_half(type)) return half_or_refuse(decoder, subtract ? "sub" : "add", type, m);
  subtract ? arithmetic2<Subtract>(decoder, type, m.rounding, m.flush, m.saturate)
           : arithmetic2<Add>(decoder, type, m.rounding, m.flush, m.saturate);
}

void mul(Decoder& decoder) {
  if (integer_mul(decoder)) return;
  const Modifiers m = modifiers(decoder);
  const Type type = decoder.type();
  if (is_half(type)) return half_or_refuse(decoder, "mul", type, m);
  arithmetic2<Multiply>(decoder, type, m.rounding, m.flush, m.saturate);
}

void mad(Decoder& decoder) {
  if (integer_mad(decoder)) return;
  const Modifiers m = modifiers(decoder);
  fused(decoder, decoder.type(), m.rounding, m.flush, m.saturate);
}

void fma(Decoder& decoder) {
  const Modifiers m = modifiers(decoder);
  if (!m.rounds) decoder.refuse("it needs a rounding modifier");
  const bool positive = decoder.take("relu");
  const Type type = decoder.type();
  if (is_half(type)) return half_or_refuse(decoder, positive ? "fma.relu" : "fma", type, m);
  if (positive) decoder.refuse("'.relu' is not supported");
  fused(decoder, type, m.rounding, m.flush, m.saturate);
}

void div(Decoder& decoder) {
  const int approximate = decoder.take_one_of({"approx", "full"});
  Modifiers m = modifiers(decoder);
  const Type type = decoder.type();
  if (type.is_integer() && approximate < 0 && !m.rounds && !m.flush)
    return integer_division(decoder, type, false);
  arithmetic2<Divide>(decoder, type, m.rounding, m.flush, m.saturate);
}

template <class T, bool F>
struct Negate {
  static T run(T a) { return -in<F>(a); }
};
template <class T, bool F>
struct Absolute {
  static T run(T a) { return std::fabs(in<F>(a)); }
};

template <template <class, bool> class Op>
void unary(Decoder& decoder, std::string_view opcode) {
  const bool flush = decoder.take("ftz");
  const Type type = decoder.type();
  if (type.is_integer() && !flush) return integer_unary(decoder, type, opcode);
  if (is_half(type)) {
    decoder.out.acquires = flush;
    return half_arithmetic(decoder, opcode, type);
  }
  want_float(decoder, type);
  operands1(decoder, type);
  decoder.out.action = type.bytes == 8 ? map1<double, double, Op<double, false>>
                       : flush         ? map1<float, float, Op<float, true>>
                                       : map1<float, float, Op<float, false>>;
}

template <class T, bool F, bool kGreater, bool kNan>
struct Extreme {
  static T run(T a, T b) {
    a = in<F>(a);
    b = in<F>(b);
    if (a != a || b != b) {
      if (kNan || (a != a && b != b)) return out<F, false>(std::numeric_limits<T>::quiet_NaN());
      return a != a ? b : a;
    }
    if (a == b) return std::signbit(a) == kGreater ? b : a;
    return (a < b) == kGreater ? b : a;
  }
};
template <bool kGreater>
void run_sign(Warp& warp, const Instruction& i, uint32_t mask) {
  float* d = at<float>(warp, i.d);
  const float *a = at<float>(warp, i.a), *b = at<float>(warp, i.b);
  const bool nan = i.choice != 0;
  each_lane(mask, [=](int lane) {
    const float x = i.acquires ? flushed(a[lane]) : a[lane],
                y = i.acquires ? flushed(b[lane]) : b[lane];
    const bool negative = std::signbit(x) != std::signbit(y);
    const float best =
        nan ? Extreme<float, false, kGreater, true>::run(std::fabs(x), std::fabs(y))
            : Extreme<float, false, kGreater, false>::run(std::fabs(x), std::fabs(y));
    d[lane] = best != best ? best : negative ? -best : best;
  });
}

template <bool G>
void minmax(Decoder& decoder) {
  const bool flush = decoder.take("ftz");
  const bool nan = decoder.take("NaN");
  const bool sign = decoder.take("xorsign");
  if (sign && !decoder.take("abs")) decoder.refuse("'.xorsign' must be followed by '.abs'");
  const Type type = decoder.type();
  if (type.is_integer() && !flush && !nan && !sign) return integer_minmax(decoder, type, G);
  if (is_half(type)) {
    if (sign) decoder.refuse("'.xorsign' in half precision is not supported");
    decoder.out.acquires = flush;
    decoder.out.choice = nan;
    return half_arithmetic(decoder, G ? "max" : "min", type);
  }
  want_float(decoder, type);
  operands2(decoder, type);
  using F = float;
  using D = double;
  if (sign) {
    if (type.bytes == 8) decoder.refuse("unsupported type");
    decoder.out.acquires = flush;
    decoder.out.choice = nan;
    decoder.out.action = run_sign<G>;
  } else if (type.bytes == 8) {
    decoder.out.action = nan ? map2<D, D, D, Extreme<D, false, G, true>>
                             : map2<D, D, D, Extreme<D, false, G, false>>;
  } else if (flush) {
    decoder.out.action =
        nan ? map2<F, F, F, Extreme<F, true, G, true>> : map2<F, F, F, Extreme<F, true, G, false>>;
  } else {
    decoder.out.action = nan ? map2<F, F, F, Extreme<F, false, G, true>>
                             : map2<F, F, F, Extreme<F, false, G, false>>;
  }
}

template <class T>
struct CopySign {
  static T run(T a, T b) { return std::copysign(b, a); }
};

void copysign(Decoder& decoder) {
  const Type type = decoder.type();
  want_float(decoder, type);
  operands2(decoder, type);
  decoder.out.action = type.bytes == 8 ? map2<double, double, double, CopySign<double>>
                                       : map2<float, float, float, CopySign<float>>;
}

template <class T>
void run_testp(Warp& warp, const Instruction& i, uint32_t mask) {
  const T* a = at<T>(warp, i.a);
  uint32_t bits = 0;
  each_lane(mask, [&](int lane) {
    const int kind = std::fpclassify(a[lane]);
    const bool answers[] = {std::isfinite(a[lane]), kind == FP_INFINITE, kind != FP_NAN,
                            kind == FP_NAN,         kind == FP_NORMAL,   kind == FP_SUBNORMAL};
    bits |= uint32_t{answers[i.choice]} << lane;
  });
  uint32_t* d = at<uint32_t>(warp, i.d);
  *d = (*d & ~mask) | bits;
}

void testp(Decoder& decoder) {
  const int kind =
      decoder.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (kind < 0) decoder.refuse("unknown class of numbers");
  const Type type = decoder.type();
  want_float(decoder, type);
  decoder.want_operands(2, 2);
  decoder.out.d = decoder.write(0, kPred);
  decoder.out.a = decoder.read(1, type);
  decoder.out.choice = static_cast<uint8_t>(kind);
  decoder.out.action = type.bytes == 8 ? run_testp<double> : run_testp<float>;
}

}  // namespace

void add_floats(Opcodes& table) {
  table["add"] = [](Decoder& decoder) { add_or_subtract(decoder, false); };
  table["sub"] = [](Decoder& decoder) { add_or_subtract(decoder, true); };
  table["mul"] = mul;
  table["mad"] = mad;
  table["fma"] = fma;
  table["div"] = div;
  table["neg"] = [](Decoder& decoder) { unary<Negate>(decoder, "neg"); };
  table["abs"] = [](Decoder& decoder) { unary<Absolute>(decoder, "abs"); };
  table["min"] = minmax<false>;
  table["max"] = minmax<true>;
  table["copysign"] = copysign;
  table["testp"] = testp;
}

}  // namespace sim
