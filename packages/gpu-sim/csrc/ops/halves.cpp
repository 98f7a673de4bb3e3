// Arithmetic of f16, bf16 and their pairs: computed exactly in double, then rounded once.

#include <cmath>
#include <map>

#include "half.h"
#include "table.h"

namespace sim {
namespace {

using Function = double (*)(double, double, double);

double extreme(double a, double b, bool greater, bool nan) {
  if (a != a || b != b) return nan || (a != a && b != b) ? std::nan("") : a != a ? b : a;
  if (a == b) return std::signbit(a) == greater ? b : a;
  return (a < b) == greater ? b : a;
}

struct Operation {
  Function function;
  size_t operands;
};

const std::map<std::string_view, Operation>& operations() {
  static const std::map<std::string_view, Operation> kAll = {
      {"add", {[](double a, double b, double) { return a + b; }, 2}},
      {"sub", {[](double a, double b, double) { return a - b; }, 2}},
      {"mul", {[](double a, double b, double) { return a * b; }, 2}},
      // The product of two half-precision values is exact.
      {"fma", {[](double a, double b, double c) { return add_to_odd(a * b, c); }, 3}},
      {"min", {[](double a, double b, double) { return extreme(a, b, false, false); }, 2}},
      {"max", {[](double a, double b, double) { return extreme(a, b, true, false); }, 2}},
      {"min.NaN", {[](double a, double b, double) { return extreme(a, b, false, true); }, 2}},
      {"max.NaN", {[](double a, double b, double) { return extreme(a, b, true, true); }, 2}},
      {"fma.relu",
       {[](double a, double b, double c) {
          const double sum = add_to_odd(a * b, c);
          return sum < 0 ? 0.0 : sum;
        },
        3}},
      {"neg", {[](double a, double, double) { return -a; }, 1}},
      {"abs", {[](double a, double, double) { return std::fabs(a); }, 1}},
      {"ex2", {[](double a, double, double) { return std::exp2(a); }, 1}},
      {"tanh", {[](double a, double, double) { return std::tanh(a); }, 1}},
  };
  return kAll;
}

template <class Format>
uint32_t flush(uint32_t bits) {
  return (bits & Format::kInfinity) == 0 ? bits & Format::kSign : bits;
}

/** Instruction::plus is the function; acquires stands for .ftz and releases for .sat. */
template <class Format, int kHalves>
void run(Warp& warp, const Instruction& i, uint32_t mask) {
  using T = std::conditional_t<kHalves == 2, uint32_t, uint16_t>;
  const auto function = reinterpret_cast<Function>(i.plus);
  T* d = at<T>(warp, i.d);
  const T* a = at<T>(warp, i.a);
  const T* b = i.b == kNoPlace ? a : at<T>(warp, i.b);
  const T* c = i.c == kNoPlace ? a : at<T>(warp, i.c);
  each_lane(mask, [=](int lane) {
    uint32_t result = 0;
    for (int half = 0; half < kHalves; ++half) {
      const auto part = [&](T value) {
        const uint32_t bits = value >> 16 * half & 0xffff;
        return Format::widen(i.acquires ? flush<Format>(bits) : bits);
      };
      double value = function(part(a[lane]), part(b[lane]), part(c[lane]));
      if (i.releases) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
      const uint32_t bits = Format::narrow(value);
      result |= (i.acquires ? flush<Format>(bits) : bits) << 16 * half;
    }
    d[lane] = static_cast<T>(result);
  });
}

/** neg and abs change only the sign bit, even of NaN. */
template <bool kNegate, int kHalves>
void run_sign(Warp& warp, const Instruction& i, uint32_t mask) {
  using T = std::conditional_t<kHalves == 2, uint32_t, uint16_t>;
  constexpr auto kSigns = static_cast<T>(0x80008000u);
  T* d = at<T>(warp, i.d);
  const T* a = at<T>(warp, i.a);
  each_lane(mask, [=](int lane) {
    d[lane] = static_cast<T>(kNegate ? a[lane] ^ kSigns : a[lane] & ~kSigns);
  });
}

}  // namespace

void half_arithmetic(Decoder& decoder, std::string_view opcode, Type type) {
  std::string name(opcode);
  if (decoder.out.choice != 0) name += ".NaN";
  const auto found = operations().find(name);
  if (found == operations().end()) decoder.refuse("unsupported type");
  const size_t count = found->second.operands;
  // Registers for half precision are untyped.
  const Type bits{Kind::kBits, type.bytes};
  decoder.want_operands(count + 1, count + 1);
  decoder.out.d = decoder.write(0, bits);
  decoder.out.a = decoder.read(1, bits);
  if (count > 1) decoder.out.b = decoder.read(2, bits);
  if (count > 2) decoder.out.c = decoder.read(3, bits);
  decoder.out.plus = reinterpret_cast<int64_t>(found->second.function);
  const bool two = type.lanes == 2;
  if ((opcode == "neg" || opcode == "abs") && !decoder.out.acquires) {
    if (opcode == "neg")
      decoder.out.action = two ? run_sign<true, 2> : run_sign<true, 1>;
    else
      decoder.out.action = two ? run_sign<false, 2> : run_sign<false, 1>;
  } else if (type.kind == Kind::kBrain) {
    decoder.out.action = two ? run<Brain, 2> : run<Brain, 1>;
  } else {
    decoder.out.action = two ? run<Half, 2> : run<Half, 1>;
  }
}

}  // namespace sim
