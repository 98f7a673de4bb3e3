// Forms (functional, out=, in-place) of composite elementwise operators. A body maps operands of
// one dtype to the result; torch's TensorIterator handles promotion, broadcasting, output strides,
// resizing and overlap checks. Half-precision operands reach the body as float, and the result is
// rounded once. Complex operands go to the fallback.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/plans/elementwise.h"

namespace dl::core::composed {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline bool is_half(c10::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

// An operand converted to the common dtype, or to float if that is a half-precision dtype.
inline Tensor operand(const Tensor& tensor, const Tensor& out, c10::ScalarType type) {
  const Tensor typed =
      tensor.device() == out.device() ? tensor.to(type) : tensor.to(out.device(), type);
  return is_half(type) ? typed.to(at::kFloat) : typed;
}

// Writes `result` to `out`. If the caller gave no output and `result` is a new tensor with the
// strides that torch requires, it becomes the output without a copy.
template <typename... Inputs>
Tensor settle(bool given, const Tensor& out, const Tensor& result, const Inputs&... inputs) {
  if (!given && result.scalar_type() == out.scalar_type() && result.sizes() == out.sizes() &&
      result.strides() == out.strides() && !(... || result.is_alias_of(inputs))) {
    return result;
  }
  out.copy_(result);
  return out;
}

at::TensorIterator iterator_of(Tensor& out, const Tensor& self, Promotion promotion);
at::TensorIterator iterator_of(Tensor& out, const Tensor& self, const Tensor& other,
                               Promotion promotion);

// Returns a 0-dim tensor that takes part in type promotion like a Python scalar.
Tensor wrap_scalar(const Scalar& number);

// Bits of floating-point numbers, as integers of the same width.
Tensor bits_of(const Tensor& x);
inline Tensor signbit_of(const Tensor& x) { return bits_of(x).lt(0); }

// Raises the error of torch's floating-point kernels for other dtypes.
inline void check_floating(const char* kernel, c10::ScalarType type) {
  TORCH_CHECK_NOT_IMPLEMENTED(c10::isFloatingType(type), "\"", kernel, "\" not implemented for '",
                              type, "'");
}

// Bodies that other operators use too; all operands have the same dtype.
Tensor copysign_of(const Tensor& magnitude, const Tensor& sign);
Tensor atan2_of(const Tensor& y, const Tensor& x);
Tensor trunc_of(const Tensor& x);

// Dtypes for which the formulas here are correct. For other dtypes, the fallback raises the error
// or, for complex dtypes, computes the result.
inline bool takes(std::string_view name, std::string_view overload, c10::ScalarType type) {
  constexpr std::string_view of_integers[] = {"gcd", "lcm"};
  constexpr std::string_view of_numbers[] = {"round", "trunc"};
  constexpr std::string_view of_floats[] = {
      "_prelu_kernel", "elu", "glu", "hardshrink", "hardsigmoid", "mish", "softplus", "softshrink",
  };
  const auto is_among = [name](const auto& names) {
    for (const std::string_view each : names) {
      if (each == name) return true;
    }
    return false;
  };
  if (c10::isComplexType(type)) return false;
  if (is_among(of_integers)) return c10::isIntegralType(type, false);
  if (is_among(of_numbers) && type == at::kBool) return false;
  const bool rounds_to_digits = name == "round" && overload == "decimals";
  return c10::isFloatingType(type) || !(is_among(of_floats) || rounds_to_digits);
}

// Kernels of `name`.`overload`, `name`.`out_overload` and `name`_.`overload`.
template <auto body, Promotion promotion, Text name, Text overload = "", Text out_overload = "out",
          typename Body = decltype(body)>
struct Unary;

template <auto body, Promotion promotion, Text name, Text overload, Text out_overload,
          typename... More>
struct Unary<body, promotion, name, overload, out_overload, Tensor (*)(const Tensor&, More...)> {
  static Tensor run(const Tensor& given, const Tensor& self, More... more) {
    Tensor out = given;
    auto iterator = iterator_of(out, self, promotion);
    out = iterator.output();
    const auto type =
        promotion == Promotion::comparison ? self.scalar_type() : iterator.common_dtype();
    return settle(given.defined(), out, body(operand(self, out, type), more...), self);
  }
  static Tensor functional(const Tensor& self, More... more) {
    if (!takes_all(self)) {
      return on_cpu<overload_name(name, overload), Tensor(const Tensor&, More...)>(self, more...);
    }
    return run({}, self, more...);
  }
  static Tensor& out(const Tensor& self, More... more, Tensor& out) {
    if (!takes_all(self) || out.is_complex()) {
      return on_cpu<overload_name(name, out_overload), Tensor&(const Tensor&, More..., Tensor&)>(
          self, more..., out);
    }
    run(out, self, more...);
    return out;
  }
  static Tensor& inplace(Tensor& self, More... more) {
    if (!takes_all(self)) {
      return on_cpu<overload_name(name + Text("_"), overload), Tensor&(Tensor&, More...)>(self,
                                                                                          more...);
    }
    run(self, self, more...);
    return self;
  }

 private:
  template <typename... Operands>
  static bool takes_all(const Operands&... operands) {
    return (takes(name.value, overload.value, operands.scalar_type()) && ...);
  }
};

template <auto body, Promotion promotion, Text name, Text overload = "", Text out_overload = "out",
          typename Body = decltype(body)>
struct Binary;

template <auto body, Promotion promotion, Text name, Text overload, Text out_overload,
          typename... More>
struct Binary<body, promotion, name, overload, out_overload,
              Tensor (*)(const Tensor&, const Tensor&, More...)> {
  static Tensor run(const Tensor& given, const Tensor& self, const Tensor& other, More... more) {
    Tensor out = given;
    auto iterator = iterator_of(out, self, other, promotion);
    out = iterator.output();
    const auto type = iterator.common_dtype();
    return settle(given.defined(), out,
                  body(operand(self, out, type), operand(other, out, type), more...), self, other);
  }
  static Tensor functional(const Tensor& self, const Tensor& other, More... more) {
    if (!takes_all(self, other)) {
      return on_cpu<overload_name(name, overload), Tensor(const Tensor&, const Tensor&, More...)>(
          self, other, more...);
    }
    return run({}, self, other, more...);
  }
  static Tensor& out(const Tensor& self, const Tensor& other, More... more, Tensor& out) {
    if (!takes_all(self, other) || out.is_complex()) {
      return on_cpu<overload_name(name, out_overload),
                    Tensor&(const Tensor&, const Tensor&, More..., Tensor&)>(self, other, more...,
                                                                             out);
    }
    run(out, self, other, more...);
    return out;
  }
  static Tensor& inplace(Tensor& self, const Tensor& other, More... more) {
    if (!takes_all(self, other)) {
      return on_cpu<overload_name(name + Text("_"), overload),
                    Tensor&(Tensor&, const Tensor&, More...)>(self, other, more...);
    }
    run(self, self, other, more...);
    return self;
  }

 private:
  template <typename... Operands>
  static bool takes_all(const Operands&... operands) {
    return (takes(name.value, overload.value, operands.scalar_type()) && ...);
  }
};

}  // namespace dl::core::composed

// Register the overloads of a form: functional and out=, and in-place where torch has it. Use them
// in a TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) block.
#define DL_COMPOSED_OUT(name, out_name, Form) \
  do {                                        \
    DL_COMPOSED(name, Form::functional);      \
    DL_COMPOSED(out_name, Form::out);         \
  } while (false)
#define DL_COMPOSED_FORMS(name, out_name, inplace_name, Form) \
  do {                                                        \
    DL_COMPOSED_OUT(name, out_name, Form);                    \
    DL_COMPOSED(inplace_name, Form::inplace);                 \
  } while (false)
