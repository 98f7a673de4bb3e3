// Roots, reciprocals and functions that GPUs approximate; here they are exact up to rounding.

#include <cmath>

#include "rounding.h"
#include "table.h"

namespace sim {
namespace {

template <class T>
struct Reciprocal {
  static T run(T a) { return T{1} / a; }
};
template <class T>
struct Root {
  static T run(T a) { return std::sqrt(a); }
};
template <class T>
struct ReciprocalRoot {
  static T run(T a) { return static_cast<T>(1.0L / std::sqrt(static_cast<long double>(a))); }
};
template <class T>
struct Sine {
  static T run(T a) { return static_cast<T>(std::sin(static_cast<double>(a))); }
};
template <class T>
struct Cosine {
  static T run(T a) { return static_cast<T>(std::cos(static_cast<double>(a))); }
};
template <class T>
struct Logarithm {
  static T run(T a) { return static_cast<T>(std::log2(static_cast<double>(a))); }
};
template <class T>
struct Exponential {
  static T run(T a) { return static_cast<T>(std::exp2(static_cast<double>(a))); }
};
template <class T>
struct Tangent {
  static T run(T a) { return static_cast<T>(std::tanh(static_cast<double>(a))); }
};

template <class T, template <class> class Op, bool F>
struct Wrapped {
  static T run(T a) { return out<F, false>(Op<T>::run(in<F>(a))); }
};

template <template <class> class Op>
void function(Decoder& decoder) {
  const bool approximate = decoder.take("approx");
  const Rounding rounding = take_rounding(decoder);
  const bool flush = decoder.take("ftz");
  const Type type = decoder.type();
  if (type.kind != Kind::kFloat || type.bytes < 4 || type.lanes != 1)
    decoder.refuse("unsupported type");
  operands1(decoder, type);
  decoder.out.choice = static_cast<uint8_t>(rounding);
  const bool nearest = rounding == Rounding::kNearest;
  if (type.bytes == 8) {
    if (flush && !approximate) decoder.refuse("f64 has no .ftz");
    decoder.out.action =
        nearest ? map1<double, double, Op<double>> : rounded<map1<double, double, Op<double>>>;
  } else if (flush) {
    decoder.out.action = nearest ? map1<float, float, Wrapped<float, Op, true>>
                                 : rounded<map1<float, float, Wrapped<float, Op, true>>>;
  } else {
    decoder.out.action = nearest ? map1<float, float, Wrapped<float, Op, false>>
                                 : rounded<map1<float, float, Wrapped<float, Op, false>>>;
  }
}

template <template <class> class Op>
void approximation(Decoder& decoder, std::string_view opcode, bool halves) {
  decoder.take("approx");
  const bool flush = decoder.take("ftz");
  const Type type = decoder.type();
  if (halves && ((type.kind == Kind::kFloat && (type.bytes == 2 || type.lanes == 2)) ||
                 type.kind == Kind::kBrain)) {
    decoder.out.acquires = flush;
    return half_arithmetic(decoder, opcode, type);
  }
  if (type.kind != Kind::kFloat || type.bytes != 4 || type.lanes != 1)
    decoder.refuse("unsupported type");
  operands1(decoder, type);
  decoder.out.action = flush ? map1<float, float, Wrapped<float, Op, true>>
                             : map1<float, float, Wrapped<float, Op, false>>;
}

}  // namespace

void add_functions(Opcodes& table) {
  table["rcp"] = function<Reciprocal>;
  table["sqrt"] = function<Root>;
  table["rsqrt"] = function<ReciprocalRoot>;
  table["sin"] = [](Decoder& decoder) { approximation<Sine>(decoder, "sin", false); };
  table["cos"] = [](Decoder& decoder) { approximation<Cosine>(decoder, "cos", false); };
  table["lg2"] = [](Decoder& decoder) { approximation<Logarithm>(decoder, "lg2", false); };
  table["ex2"] = [](Decoder& decoder) { approximation<Exponential>(decoder, "ex2", true); };
  table["tanh"] = [](Decoder& decoder) { approximation<Tangent>(decoder, "tanh", true); };
}

}  // namespace sim
